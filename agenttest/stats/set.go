package stats

import "slices"

// Run contains the data of one run that statistics use.
type Run struct {
	ID      string
	State   State
	Score   *float64 // nil if the run has no score
	Failure *Failure // set for a failed run
}

// State is the final state of a run.
type State int

// These constants are the final states of a run.
const (
	Passed State = iota
	Failed
	Error
	Cancelled
)

// minCoverage is the minimum share of the requested runs that must be scored for a reliable rate.
const minCoverage = 0.8

// Scenario contains the statistics of one scenario's runs.
type Scenario struct {
	Total, Passed, Failed, Errors int // Total counts all ended runs
	Requested                     int
	Rate                          *float64  // share of passed runs among scored ones; nil if none was scored
	Interval                      *Interval // confidence interval of Rate
	Coverage                      float64   // share of the requested runs that were scored
	Insufficient                  bool      // Coverage is below 0.8
	Confidence                    Confidence
	IsFlaky                       bool
	FlakeRate                     *float64 // twice the smaller share of passed and failed runs, from 0 to 1
	FlakySignificant              bool     // see the function FlakySignificant
	Stability                     Stability
	Scores                        Scores
	Worst                         string // id of the scored run with the lowest score, the earliest of several; empty if there is none
	Modes                         []Mode // common failures, the most frequent first
	PassAt                        []PassAt
	FlakeSource                   Source // result of SourceOf; Describe does not set it
}

// PassAt contains the probabilities that all of K runs, and that any of K runs, pass.
type PassAt struct {
	K        int
	All, Any float64
}

// passAt lists the values of PassAt.K. Values above the number of scored runs are omitted.
var passAt = []int{1, 3, 5, 10, 20, 50, 100, 200}

// Describe returns the statistics of one scenario. runs are its ended runs, earliest first, and requested is the number of requested runs.
func Describe(runs []Run, requested int) Scenario {
	s := Scenario{Total: len(runs), Requested: requested}
	var scores []float64
	lowest := 0.0
	for _, r := range runs {
		switch r.State {
		case Passed:
			s.Passed++
		case Failed:
			s.Failed++
		case Error:
			s.Errors++
			continue
		case Cancelled:
			continue
		}
		if r.Score == nil {
			continue
		}
		if scores = append(scores, *r.Score); len(scores) == 1 || *r.Score < lowest {
			lowest, s.Worst = *r.Score, r.ID
		}
	}
	n := s.Passed + s.Failed
	if n > 0 {
		rate := float64(s.Passed) / float64(n)
		flake := 2 * min(rate, 1-rate)
		s.Rate, s.FlakeRate = &rate, &flake
	}
	if requested > 0 {
		s.Coverage = min(1, float64(n)/float64(requested))
	}
	s.Insufficient = s.Coverage < minCoverage
	s.Interval, s.Confidence, s.Stability = Wilson(s.Passed, n), ConfidenceOf(n), StabilityOf(s.Passed, n)
	s.IsFlaky = s.Passed > 0 && s.Failed > 0
	s.FlakySignificant = FlakySignificant(s.Passed, n)
	s.Scores, s.Modes = ScoresOf(scores), Modes(runs)
	for _, k := range passAt {
		if all, ok := AllPass(s.Passed, n, k); ok {
			anyOf, _ := AnyPass(s.Passed, n, k)
			s.PassAt = append(s.PassAt, PassAt{k, all, anyOf})
		}
	}
	return s
}

// Overall contains the statistics of all scenarios of a simulation set together.
type Overall struct {
	Rate     *float64 // mean of the scenarios' rates; nil if no scenario has a rate
	Interval *Interval
	Flaky    int // number of flaky scenarios
	Reliable int // number of scenarios that passed in all of at least two runs, with sufficient coverage
	Runs     int // number of ended runs
	Errors   int
}

// Summarize returns the statistics of scenarios together. Bootstrap computes the confidence interval.
func Summarize(scenarios []Scenario) Overall {
	var o Overall
	var rates []float64
	for _, s := range scenarios {
		o.Runs += s.Total
		o.Errors += s.Errors
		if s.IsFlaky {
			o.Flaky++
		}
		if s.Stability == StablePass && !s.Insufficient {
			o.Reliable++
		}
		if s.Rate != nil {
			rates = append(rates, *s.Rate)
		}
	}
	if len(rates) > 0 {
		slices.Sort(rates)
		rate := meanOf(rates)
		o.Rate = &rate
		o.Interval = Bootstrap(rates)
	}
	return o
}
