package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/caller"
)

// Decides reports whether the assertions decide the verdict of a conversation that ended for this reason.
func Decides(end assert.EndReason) bool {
	switch end {
	case assert.EndByAgent, assert.EndByCaller, assert.EndMaxTurns, assert.EndLoop:
		return true
	default:
		return false
	}
}

// evaluate evaluates the assertions and sets the verdict. It sets none if the caller departed from its persona, or if the evaluation was
// interrupted.
func (r *run) evaluate(ctx context.Context) {
	judge := r.judge()
	if r.offScript(ctx) {
		return
	}
	if !r.results(ctx, judge) {
		r.out.Results = nil
		if errors.Is(context.Cause(ctx), errRunTime) {
			r.end(assert.EndRunTimeout, "")
		}
		return
	}
	r.tone(ctx, judge)
	d := assert.Decide(r.out.Results, r.c.Scenario.MinScore)
	r.out.Verdict, r.out.Score = Verdict(d.Verdict), d.Score
	r.out.Warnings = append(r.out.Warnings, d.Warnings...)
	switch r.out.Verdict {
	case Failed:
		r.out.Blame = assert.Blame(&r.out.Evidence, r.out.Results)
	case Error:
		i := slices.IndexFunc(r.out.Results, func(res assert.Result) bool { return res.Required && res.Outcome == assert.Error })
		if i >= 0 {
			res := r.out.Results[i]
			r.out.Error = "the assertion " + label(res) + " cannot be evaluated: " + res.Reasoning
		}
	case Passed, Cancelled:
	}
}

// judge returns the judge of the run, or nil if none is configured.
func (r *run) judge() assert.Judge {
	if r.cfg.Judge == nil {
		return nil
	}
	return r.cfg.Judge(r.model(r.cfg.JudgeModel, byJudge))
}

// symmetric is a judge that always takes symmetric votes, for scenarios that are required for promotion. Votes that only confirm failures
// would not detect false passes.
type symmetric struct{ judge assert.Judge }

// Judge judges the criterion with symmetric votes.
func (j symmetric) Judge(ctx context.Context, e *assert.Evidence, c assert.Criterion) (assert.Opinion, error) {
	c.Symmetric = true
	return j.judge.Judge(ctx, e, c)
}

func label(r assert.Result) string {
	if r.Name != "" {
		return r.Name
	}
	return r.Assertion
}

// offScript reports whether the caller departed from its persona, and if so changes the run's end to EndCallerInvalid. It checks only
// callers that a model plays, and only if Config.CheckCaller is set. If the model fails, offScript only adds a warning, because the failure
// is independent of the agent.
func (r *run) offScript(ctx context.Context) bool {
	if _, played := r.caller.(*caller.Model); !played || !r.cfg.CheckCaller {
		return false
	}
	reason, err := caller.InPersona(ctx, r.model(r.cfg.JudgeModel, byJudge), r.c.Scenario, r.messages)
	if err != nil {
		r.out.Warnings = append(r.out.Warnings, "it is not known whether the simulated caller stayed in its persona: "+r.clientText(ctx, err))
		return false
	}
	if reason != "" {
		r.end(assert.EndCallerInvalid, "the simulated caller was off script: "+reason)
	}
	return reason != ""
}

// results evaluates the assertions. It evaluates judged assertions concurrently, at most Config.Parallel at a time. It returns false if ctx
// is done and an assertion decided by a rule was interrupted. results repeats a panic of the judge in the goroutine of the run, whose owner
// can recover from it.
func (r *run) results(ctx context.Context, judge assert.Judge) (complete bool) {
	if judge != nil && r.c.Scenario.Required {
		judge = symmetric{judge}
	}
	assertions := slices.Clone(r.c.Scenario.Assertions)
	slices.SortStableFunc(assertions, func(a, b assert.Assertion) int { return a.Order - b.Order })
	r.out.Results = make([]assert.Result, len(assertions))
	places := make(chan struct{}, r.cfg.Parallel)
	var all sync.WaitGroup
	panics := make(chan any, len(assertions))
	var work assert.Work
	complete = true
	for i, a := range assertions {
		check, err := r.checks.compile(a)
		switch {
		case err != nil:
			r.out.Results[i] = assert.Invalid(a, err)
		case judge == nil || !check.Judged():
			if check.Judged() {
				r.models.need()
			}
			r.out.Results[i] = check.EvaluateWithin(ctx, &r.out.Evidence, &work)
			if unknown := check.Unknown(&r.out.Evidence); unknown != "" {
				r.out.Warnings = append(r.out.Warnings, fmt.Sprintf("the assertion %s names the node %q, which the tested version does not have: the scenario needs an update",
					label(r.out.Results[i]), unknown))
			}
			complete = complete && r.out.Results[i].Code != assert.CodeInterrupted
		default:
			places <- struct{}{}
			all.Go(func() {
				defer func() {
					if p := recover(); p != nil {
						panics <- p
					}
					<-places
				}()
				r.out.Results[i] = check.Evaluate(ctx, &r.out.Evidence, judge)
			})
		}
	}
	all.Wait()
	select {
	case p := <-panics:
		panic(p)
	default:
		return complete
	}
}

// tone sets the tone rating of the run: the rating of an assertion or, if the scenario requests one, a new rating by the judge.
func (r *run) tone(ctx context.Context, judge assert.Judge) {
	for _, res := range r.out.Results {
		if res.Tone != nil {
			r.out.Tone = res.Tone
			return
		}
	}
	if !r.c.Scenario.ScoreTone {
		return
	}
	if judge == nil {
		r.out.Warnings = append(r.out.Warnings, "the tone cannot be scored without a judge")
		return
	}
	o, err := judge.Judge(ctx, &r.out.Evidence, assert.Criterion{Assertion: "tone", Output: assert.OutputTone})
	if err != nil {
		r.out.Warnings = append(r.out.Warnings, "the tone cannot be scored: "+r.clientText(ctx, err))
		return
	}
	if o.Tone == nil {
		r.out.Warnings = append(r.out.Warnings, "the tone cannot be scored: "+o.Reasoning)
		return
	}
	tone := *o.Tone
	tone.WordsPerTurn, tone.RepeatedSentences = assert.CountTone(r.out.Evidence.Turns)
	r.out.Tone = &tone
}

// finish sets the usage, and the verdict of canceled runs, of runs whose budget was exhausted, and of runs that the assertions do not
// decide.
func (r *run) finish(ctx context.Context) {
	o := &r.out
	o.Usage, o.Models, o.Uses = r.models.spent(), r.models.answerers(), r.models.allUses()
	o.Spend = r.models.budget.Used()
	t := r.models.failures()
	o.Quota = t.quota
	_, replayed := r.caller.(*caller.Replay)
	o.ByRules = replayed && !t.needed
	if t.unpriced != "" && r.models.budget.boundsCost() {
		o.Warnings = append(o.Warnings, "the price of the model "+t.unpriced+" is not known: the cost of its calls is not bounded")
	}
	switch {
	case ctx.Err() != nil:
		o.Verdict, o.Error, o.Results, o.Score, o.Tone, o.Blame = Cancelled, "", nil, nil, nil, ""
	case t.budget != nil:
		// The run is an error even if the assertions passed: without a budget, the refused calls might have changed the result.
		o.Evidence.End, o.Verdict, o.Error, o.Score, o.Blame = assert.EndBudget, Error, t.budget.Error(), nil, ""
	case o.Verdict == "":
		o.Verdict = Error
	}
	o.Refused = o.Verdict == Error && t.refused
}

// checks caches compiled assertions, so that the runs of a batch compile each assertion once.
type checks struct {
	mu   sync.Mutex
	kept map[checkKey]*assert.Check
}

// checkKey identifies a Check by its source.
type checkKey struct {
	id, name, config string
	kind             assert.Type
	required         bool
	weight           float64
	order            int
}

// maxChecks is the maximum number of cached checks.
const maxChecks = 1000

func (c *checks) compile(a assert.Assertion) (*assert.Check, error) {
	key := checkKey{a.ID, a.Name, string(a.Config), a.Type, a.Required, a.Weight, a.Order}
	c.mu.Lock()
	check := c.kept[key]
	c.mu.Unlock()
	if check != nil {
		return check, nil
	}
	check, err := assert.Compile(a)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= maxChecks {
		c.kept = map[checkKey]*assert.Check{}
	}
	c.kept[key] = check
	return check, nil
}
