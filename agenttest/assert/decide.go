package assert

import "math"

// Decision is the combination of a run's assertion results.
type Decision struct {
	Verdict  Outcome  // Passed, Failed or Error
	Score    *float64 // from 0 to 1; nil if no assertion with a weight was evaluated
	Excluded []string // ids of optional assertions that could not be evaluated
	Warnings []string // human-readable
}

// tolerance is the rounding error by which a score may be below the minimum score.
const tolerance = 1e-9

// Decide combines the results of a run. The score is the mean of the evaluated assertions by weight. The required assertions determine the
// verdict: Failed if one has failed, else Error if one could not be evaluated, else Passed. A run that would pass fails if its score is
// below minScore, which may be nil. Optional assertions affect only the score.
func Decide(results []Result, minScore *float64) Decision {
	d := Decision{Verdict: Passed, Score: mean(results)}
	for i := range results {
		r := &results[i]
		switch {
		case r.evaluated() && (r.Outcome == Passed || !r.Required):
		case r.evaluated():
			d.Verdict = Failed
		case !r.Required:
			d.Excluded = append(d.Excluded, r.Assertion)
		case d.Verdict == Passed:
			d.Verdict = Error
		}
	}
	if d.Verdict == Passed && minScore != nil && d.Score != nil && *d.Score < *minScore-tolerance {
		d.Verdict = Failed
	}
	if len(results) == 0 {
		d.Warnings = append(d.Warnings, "The scenario has no assertions, so every run passes.")
	}
	return d
}

// evaluated reports whether the assertion has passed or failed.
func (r *Result) evaluated() bool { return r.Outcome == Passed || r.Outcome == Failed }

// weighs reports whether the result counts in the score.
func (r *Result) weighs() bool {
	return r.evaluated() && r.Score != nil && !math.IsNaN(*r.Score) && r.Weight > 0 && !math.IsInf(r.Weight, 0)
}

// mean returns the mean of the scores by weight, or nil without scores. Weights are divided by the largest weight, so that no sum
// overflows.
func mean(results []Result) *float64 {
	largest := 0.0
	for i := range results {
		if results[i].weighs() {
			largest = max(largest, results[i].Weight)
		}
	}
	if largest == 0 {
		return nil
	}
	var sum, weights float64
	for i := range results {
		if r := &results[i]; r.weighs() {
			w := r.Weight / largest
			sum += w * min(max(*r.Score, 0), 1)
			weights += w
		}
	}
	score := min(sum/weights, 1)
	return &score
}
