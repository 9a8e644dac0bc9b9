package assert

import "context"

// Rules contains those assertions of a scenario that rules decide. It scores past conversations again, without a judge. It is safe for
// concurrent use.
type Rules struct {
	checks []*Check
	judged []Assertion
	open   bool     // whether a judged assertion may change the verdict of a run that has not failed
	least  *float64 // minimum score of a run that passes; nil means any
}

// CompileRules compiles assertions. minScore, which may be nil, is the minimum score of a passing run, as in Decide. If Compile refuses an
// assertion, CompileRules returns the error of the first one.
func CompileRules(assertions []Assertion, minScore *float64) (*Rules, error) {
	r := &Rules{least: minScore}
	for _, a := range assertions {
		check, err := Compile(a)
		switch {
		case err != nil:
			return nil, err
		case check.Judged():
			r.judged = append(r.judged, a)
			r.open = r.open || a.Required || minScore != nil && a.Weight > 0
		default:
			r.checks = append(r.checks, check)
		}
	}
	return r, nil
}

// Judged returns the excluded assertions, which need a judge.
func (r *Rules) Judged() []Assertion { return r.judged }

// Score evaluates the assertions that rules decide, in order, and combines their results. The decision's score covers only these results.
// open reports that the verdict is unknown, because it depends on a judged assertion; a failed required assertion decides alone. If ctx is
// done, the error is its cause.
func (r *Rules) Score(ctx context.Context, e *Evidence) (results []Result, d Decision, open bool, err error) {
	results = make([]Result, len(r.checks))
	failed := false
	var work Work
	for i, c := range r.checks {
		results[i] = c.EvaluateWithin(ctx, e, &work)
		if results[i].Code == CodeInterrupted {
			return nil, Decision{}, false, context.Cause(ctx)
		}
		failed = failed || results[i].Required && results[i].Outcome == Failed
	}
	least := r.least
	if r.open {
		least = nil
	}
	return results, Decide(results, least), r.open && !failed, nil
}
