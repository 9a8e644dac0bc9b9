package assert

import "context"

// Rules holds the assertions of a scenario that are decided by rules, to score past conversations again. They ask no judge. Rules
// is safe for concurrent use.
type Rules struct {
	checks []*Check
	judged []Assertion
	open   bool     // a judged assertion may change the verdict of a run that has not failed
	least  *float64 // score of a run that passes; nil: any
}

// CompileRules compiles assertions. minScore, which may be nil, is as in Decide. The error is the one of the first assertion that
// Compile refuses.
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

// Judged returns the assertions that need a judge, and are excluded.
func (r *Rules) Judged() []Assertion { return r.judged }

// Score evaluates the assertions decided by rules, in order, and combines their results. open reports that the verdict is unknown,
// because it depends on a judged assertion: only a failed required assertion decides alone. The score of the decision covers these
// results only. The error is the cause of the end of ctx.
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
