package analytics

import (
	"math"

	"github.com/callwright/callwright/agenttest/stats"
)

// Direction is the direction in which pass rates changed.
type Direction string

// The Direction of a trend.
const (
	Improving Direction = "improving"
	Declining Direction = "declining"
	Stable    Direction = "stable"
)

// These constants are the conditions under which a change counts.
const (
	trendZ    = 1.645 // quantile of the normal distribution: 5 % on one side
	trendRate = 0.05  // minimum difference of the pass rates
	trendRuns = 10    // minimum number of scored runs in each week
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

// Weeks counts the scored runs of a scenario in two weeks: Last is the last seven whole days, and Before the seven days before them.
type Weeks struct{ Before, Last Rate }

// add counts a scored run by its age in days. It ignores runs of today and runs older than two weeks.
func (w *Weeks) add(age int64, s stats.State) {
	switch {
	case age >= 1 && age <= 7:
		w.Last.add(s)
	case age >= 8 && age <= 14:
		w.Before.add(s)
	}
}

// TrendOf compares two weeks. It uses only scenarios with scored runs in both weeks, so that other scenarios and different numbers of runs
// have no effect. It returns Stable unless all of these conditions hold:
//
//   - The Cochran-Mantel-Haenszel test is significant at 5 % on one side.
//   - The common difference of the pass rates is at least 0.05.
//   - Each week contains at least ten scored runs of these scenarios.
//
// See N. Mantel, W. Haenszel, Statistical Aspects of the Analysis of Data From Retrospective Studies of Disease, 1959. For the common
// difference, see S. Greenland, J. Robins, Estimation of a Common Effect Parameter From Sparse Follow-Up Data, 1985.
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

// compare returns the statistic of the test, the common difference of the pass rates, and the number of scored runs in the week with fewer
// of them.
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
