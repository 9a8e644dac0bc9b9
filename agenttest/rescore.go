package agenttest

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

// These constants limit a page of rescored runs.
const (
	MaxRescored     = 200              // maximum number of runs
	DefaultRescored = 50               // number of runs without a limit in the request
	maxRescoredSize = 2 << 20          // approximate bytes of the results; a page contains at least one run
	maxRescoredTime = 10 * time.Second // time after which a page ends, without the current run
)

// RescoreRequest selects a page of runs for Rescore, and the assertions to score them by.
type RescoreRequest struct {
	Assertions callwright.Optional[[]assert.Assertion] // if not Set, the scenario's current assertions
	After      callwright.Keyset                       // (CreatedAt, ID) of the last run of the previous page
	Limit      int                                     // from 1 to MaxRescored; any other value means DefaultRescored
}

// Rescored is a page of rescored runs, newest first. Only Page.Next shows whether more follow.
type Rescored struct {
	Page   callwright.Page[RescoredRun]
	Judged []assert.Assertion // assertions that need a judge: they are excluded, and count neither as passed nor as failed
	Totals RescoreTotals      // totals of the page
}

// RescoredRun is an ended run with its new score.
type RescoredRun struct {
	Run        run.Run         // the stored run, without its outcome
	Verdict    run.State       // new state of the run: Passed, Failed or Error; its old state if no assertion decides
	Incomplete bool            // the verdict is unknown, because it depends on a judged assertion
	Changed    bool            // the verdict is known and differs from the run's stored state
	Score      *float64        // score of the results; nil means none
	Results    []assert.Result // results of the assertions decided by rules, in short form; empty if no assertion decides the run
}

// RescoreTotals counts the runs of a page by their verdicts.
type RescoreTotals struct{ Runs, Passed, Failed, Error, Cancelled, Incomplete, Changed int }

// Rescore scores the ended runs of a scenario by assertions, from their recorded conversations. It calls no model and stores nothing. Runs
// with an incomplete conversation, such as canceled runs, keep their state.
//
// It returns CodeNotFound if the scenario is absent, and FieldErrors if the assertions are invalid. It returns CodeTooManyRequests if too
// many rescores run concurrently (see run.MaxReads), and CodeUnavailable if not even one run can be scored within the time limit of a page.
func (s *Service) Rescore(ctx context.Context, org callwright.OrgID, id string, r RescoreRequest) (Rescored, error) {
	sc, err := s.cfg.Store.Scenario(ctx, org, id)
	if err != nil {
		return Rescored{}, err
	}
	if r.Assertions.Set {
		sc = scenario.Patch{Assertions: r.Assertions}.Apply(sc)
		sc.SetDefaults(s.cfg.IDs.New)
		if err := s.check(sc); err != nil {
			return Rescored{}, err
		}
	}
	rules, err := assert.CompileRules(sc.Assertions, sc.MinScore)
	if err != nil {
		return Rescored{}, err
	}
	release, err := s.rescores.Hold(ctx, org)
	if err != nil {
		return Rescored{}, err
	}
	defer release()
	limit := r.Limit
	if limit < 1 || limit > MaxRescored {
		limit = DefaultRescored
	}
	runs, err := s.cfg.Store.FindRuns(ctx, org, run.Filter{
		Scenario: id, States: []run.State{run.Passed, run.Failed, run.Error, run.Cancelled}, After: r.After, Limit: limit + 1,
	})
	if err != nil {
		return Rescored{}, err
	}
	out := Rescored{Judged: rules.Judged()}
	out.Page, err = s.rescored(ctx, rules, runs, limit)
	for _, one := range out.Page.Items {
		out.Totals.add(one)
	}
	return out, err
}

// rescored scores the first runs of a list, at most limit, until the page reaches its size or its time limit. It reads one outcome at a
// time, because an outcome may be megabytes long.
func (s *Service) rescored(
	ctx context.Context, rules *assert.Rules, runs []run.Run, limit int,
) (page callwright.Page[RescoredRun], err error) {
	limited, cancel := context.WithTimeoutCause(ctx, maxRescoredTime, errRescoredTime)
	defer cancel()
	size := 0
	for i, r := range runs {
		if i > 0 && (i == limit || size > maxRescoredSize || limited.Err() != nil) {
			return endBefore(page, runs, i), nil
		}
		full, err := s.cfg.Store.Run(ctx, r.Org, r.ID)
		if callwright.IgnoreNotFound(err) != nil {
			return page, err
		}
		if err != nil {
			continue // the run was deleted meanwhile
		}
		one, err := rescore(limited, rules, full)
		switch {
		case err != nil && i > 0 && ctx.Err() == nil:
			return endBefore(page, runs, i), nil
		case err != nil:
			return page, err
		}
		page.Items = append(page.Items, one)
		for _, result := range one.Results {
			size += len(result.Reasoning) + len(result.Name) + resultSize
		}
	}
	return page, nil
}

// errRescoredTime is the cause of the timeout of a page.
var errRescoredTime = callwright.Errorf(callwright.CodeUnavailable,
	"scoring the run takes more than %s: try again, or use simpler regular expressions", maxRescoredTime)

// endBefore returns the page with Next set so that the following page begins with runs[i].
func endBefore(page callwright.Page[RescoredRun], runs []run.Run, i int) callwright.Page[RescoredRun] {
	page.Next = callwright.Keyset{At: runs[i-1].CreatedAt, ID: runs[i-1].ID}
	return page
}

// resultSize is the approximate size of a short result without its texts, in bytes.
const resultSize = 300

// rescore scores one run again. A run that assertions cannot decide keeps its state. If ctx is done first, rescore returns the cause of ctx
// as the error.
func rescore(ctx context.Context, rules *assert.Rules, r run.Run) (RescoredRun, error) {
	out := RescoredRun{Run: r, Verdict: r.State}
	out.Run.Outcome = nil
	if r.Outcome == nil || r.State == run.Cancelled || !engine.Decides(r.Outcome.Evidence.End) {
		return out, nil
	}
	scored, d, open, err := rules.Score(ctx, &r.Outcome.Evidence)
	if err != nil {
		return RescoredRun{}, err
	}
	out.Results, out.Score, out.Verdict, out.Incomplete = run.Results(run.NewChecks(scored)), d.Score, run.State(d.Verdict), open
	out.Changed = !open && out.Verdict != r.State
	return out, nil
}

func (t *RescoreTotals) add(r RescoredRun) {
	t.Runs++
	if r.Changed {
		t.Changed++
	}
	if r.Incomplete {
		t.Incomplete++
		return
	}
	switch r.Verdict {
	case run.Passed:
		t.Passed++
	case run.Failed:
		t.Failed++
	case run.Error:
		t.Error++
	case run.Cancelled:
		t.Cancelled++
	case run.Pending, run.Running:
	}
}
