package run

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
)

// These constants are the time for which a node tries to store the end of a run during an outage of the database, and the pause between
// attempts. After that time, another attempt at the run stores its end, with the models' answers from the journal.
const (
	storeTimeout = time.Minute
	storeRest    = 200 * time.Millisecond
)

// execute executes a run that was marked as Running on this node, and stores its end. After MaxAttempts, it stores an Error instead. If an
// error or the stop of the node interrupts the run, the run stays Running, and any node resumes it.
func (w *Worker) execute(ctx context.Context, r Run) {
	p, err := w.join(ctx, r)
	defer w.closeBudget(r, p)
	out := engine.Outcome{Verdict: engine.Error, Error: "lease_lost: the nodes that ran it have died"}
	if err == nil && r.Attempt <= MaxAttempts {
		out, err = w.converse(ctx, &r, budgetOf(r, p))
	}
	stopping := errors.Is(context.Cause(ctx), errStopping) && out.Verdict == engine.Cancelled
	switch {
	case err != nil:
		w.cfg.Logger.ErrorContext(ctx, "a run is interrupted and will be resumed", "run_id", r.ID, "org", r.Org, "error", err)
	case stopping:
		r.Attempt-- // the interruption does not count as an attempt
	}
	if err != nil || stopping {
		w.giveBack(context.WithoutCancel(ctx), r, p, out.Spend)
		w.release(context.WithoutCancel(ctx), r)
		return
	}
	r.Scripted = scripted(out)
	r.State, r.Outcome, r.Result, r.EndedAt = State(out.Verdict), &out, resultOf(out), w.cfg.Clock.Now()
	r.Summary = summaryOf(out)
	retainNames(&out.Evidence)
	w.end(context.WithoutCancel(ctx), r, p)
}

// converse holds the conversation of a run. After an error, the run must be resumed. If the agent or the judge, which may belong to an
// embedding program, panics, the run is an Error.
func (w *Worker) converse(ctx context.Context, r *Run, b *engine.Budget) (out engine.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			w.cfg.Logger.ErrorContext(ctx, "panic in a run", "run_id", r.ID, "org", r.Org, "panic", p, "stack", string(debug.Stack()))
			out, err = engine.Outcome{Verdict: engine.Error, Error: "internal error", Spend: b.Used()}, nil
		}
	}()
	snap, err := w.snapshotOf(ctx, *r)
	switch {
	case err != nil && ctx.Err() != nil:
		return engine.Outcome{Verdict: engine.Cancelled, Evidence: assert.Evidence{End: assert.EndCancelled}}, nil
	case err != nil:
		return engine.Outcome{}, err
	}
	return w.cfg.Engine.Run(ctx, engine.Case{
		Run: r.ID, Scenario: snap.Scenario, Version: snap.Version, Trial: r.Trial, Journal: &journal{store: w.cfg.Store, run: r},
		Budget: b, Stopped: r.Cancel,
	})
}

// release clears the node of a run that this node cannot continue, so that any node can resume it.
func (w *Worker) release(ctx context.Context, r Run) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r.Node = ""
	if err := w.cfg.Store.UpdateRuns(ctx, []Run{r}); err != nil {
		w.cfg.Logger.ErrorContext(ctx, "a run cannot be released: it is resumed when this node has ended",
			"run_id", r.ID, "org", r.Org, "error", err)
	}
}

// scriptedModel is the name of the substitute model that follows rules and scripts (adapters/scripted).
const scriptedModel = "scripted"

// scripted reports whether a run proves little about the agent in production, because no language model answered in it. It returns false
// for a recorded conversation whose pathway decides by rules alone.
func scripted(o engine.Outcome) bool {
	for _, name := range []string{o.Models.Caller, o.Models.Agent, o.Models.Judge} {
		if name != "" && name != scriptedModel {
			return false
		}
	}
	return !o.ByRules
}

// retainNames deletes everything but the names of the nodes from the graph.
func retainNames(e *assert.Evidence) {
	names := make(assert.Graph, len(e.Graph))
	for id, n := range e.Graph {
		names[id] = assert.Node{Name: n.Name}
	}
	e.Graph = names
}

// end stores the end of a run. After an error it retries for storeTimeout, unless another node has claimed the run or the run was deleted.
func (w *Worker) end(ctx context.Context, r Run, p *groupBudget) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	for {
		err := callwright.Retry(ctx, func(ctx context.Context) error { return w.tryEnd(ctx, r, p) })
		switch {
		case err == nil:
			return
		case errors.Is(err, callwright.ErrConflict), errors.Is(err, callwright.ErrNotFound):
			w.cfg.Logger.WarnContext(ctx, "the end of a run is not stored: another node has taken it over, or it was deleted",
				"run_id", r.ID, "org", r.Org)
			return
		}
		w.cfg.Logger.ErrorContext(ctx, "the end of a run cannot be stored", "run_id", r.ID, "org", r.Org, "error", err)
		rest := time.NewTimer(storeRest)
		select {
		case <-rest.C:
		case <-ctx.Done():
			rest.Stop()
			return
		}
	}
}

// tryEnd stores the end of a run in a transaction, and moves the run's spending from the group's budget on this node to the stored sum of
// the group. Then it wakes the watchers.
func (w *Worker) tryEnd(ctx context.Context, r Run, p *groupBudget) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	refused := false
	if p.budget != nil {
		p.ends.Lock()
		defer p.ends.Unlock()
		refused = r.Outcome.Evidence.End == assert.EndBudget && p.budget.Refused()
	}
	var g Group
	err := w.cfg.Atomic.Do(ctx, func(ctx context.Context) (err error) {
		g, err = w.finish(ctx, r, refused)
		return err
	})
	if err != nil {
		return err
	}
	if p.budget != nil {
		p.budget.Account(g.Spend, r.Outcome.Spend)
	}
	w.wakeWatchers(r)
	return nil
}

// Finish stores, in the transaction of ctx, the end of a run that no node executes.
func (w *Worker) Finish(ctx context.Context, r Run) error {
	_, err := w.finish(ctx, r, false)
	return err
}

// finish stores, in the transaction of ctx, the end of a run and its consequences, and returns the run's group. The revision of the run
// ensures that this happens only once. For refused, see Groups.Ended.
func (w *Worker) finish(ctx context.Context, r Run, refused bool) (g Group, err error) {
	if err := w.cfg.Store.UpdateRuns(ctx, []Run{r}); err != nil {
		return g, err
	}
	if err := w.cfg.Store.DeleteAnswers(ctx, r.Org, r.ID); err != nil {
		return g, err
	}
	if r.Batch != "" {
		if g, err = w.cfg.Groups.Ended(ctx, r, refused); err != nil {
			return g, err
		}
	}
	return g, w.enqueueTasks(ctx, r, g.ReportsFailures)
}

// summaryOf returns the summary of an outcome for analytics.
func summaryOf(o engine.Outcome) analytics.Summary {
	visits := make([]string, len(o.Evidence.Visits))
	for i, v := range o.Evidence.Visits {
		visits[i] = v.Node
	}
	return analytics.NewSummary(o.Score, visits, o.Blame)
}

// resultOf returns the result of an outcome for lists and statistics.
func resultOf(o engine.Outcome) Result {
	r := Result{Score: o.Score, Duration: o.Took, Error: o.Error, Refused: o.Refused, Checks: NewChecks(o.Results)}
	for _, t := range o.Evidence.Turns {
		if t.Role == llm.RoleCaller {
			r.Turns++
		}
	}
	if o.Verdict == engine.Failed {
		r.Failure = failureOf(o)
	}
	return r
}

// failureOf returns the failure of a failed run. It describes the failed required assertion with the greatest weight, and the first of them
// if several have this weight. Without such an assertion the score was too low.
func failureOf(o engine.Outcome) *Failure {
	f := &Failure{Node: o.Blame, End: o.Evidence.End, Reason: "the score is lower than min_score"}
	heaviest := -1.0
	for _, r := range o.Results {
		if r.Required && r.Outcome == assert.Failed && r.Weight > heaviest {
			heaviest = r.Weight
			f.Assertion, f.Type, f.Code, f.Reason = r.Assertion, r.Type, r.Code, r.Reasoning
		}
	}
	return f
}

// journal implements engine.Journal for a run with a Store.
type journal struct {
	store Store
	run   *Run
	began sync.Once
}

// Answers returns the stored answers of the run.
func (j *journal) Answers(ctx context.Context) (map[string][]byte, error) {
	return j.store.Answers(ctx, j.run.Org, j.run.ID)
}

// Append stores an answer of the run. The first answer resets the Attempt of a resumed run to 1. If the reset cannot be stored, Append
// ignores the error, and the next attempt at the run repeats the reset.
func (j *journal) Append(ctx context.Context, key string, answer []byte) error {
	if err := j.store.AppendAnswer(ctx, j.run.Org, j.run.ID, j.run.Node, key, answer); err != nil {
		return err
	}
	j.began.Do(func() {
		r := *j.run
		if r.Attempt == 1 {
			return
		}
		r.Attempt = 1
		if err := j.store.UpdateRuns(ctx, []Run{r}); err == nil {
			r.Revision++
			*j.run = r
		}
	})
	return nil
}
