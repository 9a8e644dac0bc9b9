package analytics

import (
	"math"

	"github.com/callwright/callwright/agenttest/stats"
)

// Direction is the direction of a change of pass rates.
type Direction string

// The directions.
const (
	Improving Direction = "improving"
	Declining Direction = "declining"
	Stable    Direction = "stable"
)

// The conditions of a change.
const (
	trendZ    = 1.645 // of the normal distribution, 5 % on one side
	trendRate = 0.05  // least difference of pass rates
	trendRuns = 10    // least scored runs of each week
)

// Rate counts scored runs.
type Rate struct{ Passed, Scored int }

// add counts a scored run.
func (r *Rate) add(s stats.State) {
	r.Scored++
	if s == stats.Passed {
		r.Passed++
	}
}

// Weeks counts the scored runs of a scenario in two weeks: the last seven whole days, and the seven before.
type Weeks struct{ Before, Last Rate }

// add counts a scored run by its age in days.
func (w *Weeks) add(age int64, s stats.State) {
	switch {
	case age >= 1 && age <= 7:
		w.Last.add(s)
	case age >= 8 && age <= 14:
		w.Before.add(s)
	}
}

// TrendOf compares two weeks over the scenarios with scored runs in both, so that other scenarios, or different numbers of runs,
// have no effect. The weeks differ if the Cochran-Mantel-Haenszel test is significant at 5 % on one side, the common difference of
// the pass rates is at least 0.05, and each week has ten scored runs of these scenarios.
//
// N. Mantel, W. Haenszel, Statistical Aspects of the Analysis of Data From Retrospective Studies of Disease, 1959; the common
// difference is by S. Greenland, J. Robins, Estimation of a Common Effect Parameter From Sparse Follow-Up Data, 1985.
func TrendOf(scenarios []Weeks) Direction {
	z, difference, fewest := compare(scenarios)
	switch {
	case fewest < trendRuns || math.Abs(z) < trendZ || math.Abs(difference) < trendRate:
		return Stable
	case z > 0:
		return Improving
	default:
		return Declining
	}
}

// compare returns the statistic of the test, the common difference, and the number of runs in the smaller week.
func compare(scenarios []Weeks) (z, difference float64, fewest int) {
	var excess, variance, differences, weights float64
	var before, last int
	for _, s := range scenarios {
		if s.Before.Scored == 0 || s.Last.Scored == 0 {
			continue
		}
		before, last = before+s.Before.Scored, last+s.Last.Scored
		n1, n2 := float64(s.Last.Scored), float64(s.Before.Scored)
		n, passed := n1+n2, float64(s.Last.Passed+s.Before.Passed)
		excess += float64(s.Last.Passed) - n1*passed/n
		variance += n1 * n2 * passed * (n - passed) / (n * n * (n - 1))
		differences += (float64(s.Last.Passed)*n2 - float64(s.Before.Passed)*n1) / n
		weights += n1 * n2 / n
	}
	if variance > 0 {
		z = excess / math.Sqrt(variance)
	}
	if weights > 0 {
		difference = differences / weights
	}
	return z, difference, min(before, last)
}
