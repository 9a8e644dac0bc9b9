package engine

import (
	"context"
	"slices"

	"github.com/callwright/callwright/agenttest/assert"
)

// Judgement is the result of JudgeAgain.
type Judgement struct {
	Verdict Verdict
	Usage   Usage
	Spend   Spend
}

// JudgeAgain judges the conversation of an ended run again, and returns the verdict that the run would have had. Assertions decided by
// rules keep their results. c is the case of the run, with a Trial that is unique among the runs and judgments of the conversation. If c
// has a Journal, JudgeAgain reuses the answers in it.
//
// If the judge does not decide a required assertion, the verdict is Error, unless another required assertion has failed. The verdict is
// Cancelled if ctx is done. JudgeAgain returns the journal's error, or CodeBadRequest for an incomplete case.
func (e *Engine) JudgeAgain(ctx context.Context, c Case, o Outcome) (Judgement, error) {
	if err := c.check(); err != nil {
		return Judgement{}, err
	}
	judged := map[string]bool{}
	c.Scenario.Assertions = slices.DeleteFunc(slices.Clone(c.Scenario.Assertions), func(a assert.Assertion) bool {
		check, err := e.checks.compile(a)
		judged[a.ID] = err == nil && check.Judged()
		return !judged[a.ID]
	})
	r, err := e.newRun(ctx, c, nil)
	switch {
	case err != nil && ctx.Err() != nil:
		return Judgement{Verdict: Cancelled}, nil
	case err != nil:
		return Judgement{}, err
	}
	r.out.Evidence = o.Evidence
	limited, cancel := context.WithTimeoutCause(ctx, e.cfg.RunTime, errRunTime)
	defer cancel()
	r.results(limited, r.judge())
	again := map[string]assert.Result{}
	for _, res := range r.out.Results {
		again[res.Assertion] = res
	}
	results := slices.Clone(o.Results)
	for i, res := range results {
		if judged[res.Assertion] {
			results[i] = again[res.Assertion]
		}
	}
	j := Judgement{Verdict: Cancelled, Usage: r.models.spent(), Spend: r.models.budget.Used()}
	if ctx.Err() == nil {
		j.Verdict = Verdict(assert.Decide(results, c.Scenario.MinScore).Verdict)
		err = r.models.failures().journal
	}
	return j, err
}
