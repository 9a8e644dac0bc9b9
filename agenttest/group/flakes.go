package group

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"runtime/debug"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/stats"
)

// taskAttribute is the task that judges one run of a simulation set again. Each such task enqueues the next one, and the last one finishes
// the set.
const taskAttribute = "agenttest.attribute"

// These constants limit an attribution.
const (
	judgedAgain = 10 // maximum number of passed runs of a scenario to judge again, and likewise of failed runs
	judgeTries  = 5  // attempts to judge one run again
)

// unattributed reports whether the attribution was requested, the group was not canceled, its runs have ended in different states, and
// scenarios remain to be attributed.
func (b Batch) unattributed() bool {
	c, ways := b.Counts, 0
	for _, n := range []int{c.Passed, c.Failed, c.Error} {
		if n > 0 {
			ways++
		}
	}
	return b.Flakes != nil && !b.Cancel && ways > 1 && len(b.Flakes.Sources) < len(b.Scenarios)
}

// attribute executes the next step of an attribution: it judges one run again or, if none is left, finishes the set. If the search for the
// run takes too long, the search continues in another step. The judge's answers are in the journal of the run, so that a repeated step pays
// for no answer twice.
func (s *Service) attribute(ctx context.Context, t callwright.Task, attempt int) error {
	b, err := s.cfg.Store.Batch(ctx, t.Org, t.Key)
	if err != nil || !b.Open() || !b.unattributed() {
		return callwright.IgnoreNotFound(err)
	}
	next, err := s.nextFrozen(ctx, &b)
	if err != nil {
		return err
	}
	if next != "" {
		frozen, spent, err := s.judgeAgain(ctx, b, next, attempt)
		if err != nil {
			return err
		}
		b.Flakes.Frozen = append(b.Flakes.Frozen, frozen)
		b.Usage, b.Spend = b.Usage.Plus(spent.Usage), b.Spend.Plus(spent.Spend)
	}
	return s.cfg.Run.Atomic.Do(ctx, func(ctx context.Context) error {
		if next == "" {
			_, err := s.ledger.advance(ctx, b)
			return err
		}
		if err := s.cfg.Store.UpdateBatch(ctx, b); err != nil {
			return err
		}
		if err := s.cfg.Run.Store.DeleteAnswers(ctx, b.Org, next); err != nil {
			return err
		}
		return s.ledger.enqueue(ctx, b.Org, b.ID, taskAttribute)
	})
}

// nextFrozen returns the next run to judge again, after it has recorded the sources of scenarios that need no more runs. It returns "" if
// no run is left, or if the search must continue in another step.
func (s *Service) nextFrozen(ctx context.Context, b *Batch) (run string, err error) {
	began := s.cfg.Run.Clock.Now()
	for i := len(b.Flakes.Sources); i < len(b.Scenarios) && s.cfg.Run.Clock.Now().Sub(began) < stepTime; i++ {
		described, err := s.describe(ctx, *b, i)
		if err != nil {
			return "", err
		}
		frozen := b.Flakes.Frozen
		source := stats.SourceOf(described, frozen)
		if described.IsFlaky && source != stats.FromJudge { // once the judge's verdict differs, no more runs are needed
			sample, err := s.sample(ctx, *b, i)
			if err != nil {
				return "", err
			}
			if len(frozen) < len(sample) {
				return sample[len(frozen)], nil
			}
		}
		b.Flakes.Sources, b.Flakes.Frozen = append(b.Flakes.Sources, source), nil
	}
	return "", nil
}

// sample returns the ids of those runs of a scenario that are judged again: the earliest runs, alternately passed and failed.
func (s *Service) sample(ctx context.Context, b Batch, i int) ([]string, error) {
	var ids [2][]string
	for j, state := range []run.State{run.Passed, run.Failed} {
		runs, err := s.cfg.Run.Store.FindRuns(ctx, b.Org, run.Filter{
			Batch: b.ID, Scenario: b.Scenarios[i].Scenario, States: []run.State{state}, Oldest: true, Limit: judgedAgain,
		})
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			ids[j] = append(ids[j], r.ID)
		}
	}
	var sample []string
	for n := range judgedAgain {
		for _, list := range ids {
			if n < len(list) {
				sample = append(sample, list[n])
			}
		}
	}
	return sample, nil
}

// judgeAgain judges the conversation of a run again, within the remaining budget of its group. If that fails in judgeTries attempts, the
// result contains no verdicts.
func (s *Service) judgeAgain(ctx context.Context, b Batch, id string, attempt int) (f stats.Frozen, spent Sums, err error) {
	r, snap, err := s.GetRun(ctx, b.Org, id)
	if err != nil {
		return f, spent, err
	}
	f.State = counts[r.State]
	if r.Outcome == nil {
		return f, spent, nil
	}
	if f.Digest, err = digestOf(&r.Outcome.Evidence); err != nil || attempt > judgeTries {
		return f, spent, err
	}
	budget := engine.NewBudget(b.Budget, nil)
	budget.Account(b.Spend, engine.Spend{})
	var verdicts [stats.JudgedAgain]engine.Judgement
	var errs [stats.JudgedAgain]error
	var all sync.WaitGroup
	for i := range verdicts {
		all.Go(func() {
			verdicts[i], errs[i] = s.judgeOnce(ctx, engine.Case{
				Run: r.ID, Scenario: snap.Scenario, Version: snap.Version, Trial: r.Trial + (i+1)*MaxSimulations,
				Journal: judgements{s.cfg.Run.Store, r}, Budget: budget,
			}, *r.Outcome)
		})
	}
	all.Wait()
	for i, j := range verdicts {
		switch v := j.Verdict; {
		case errs[i] != nil:
			return f, spent, errs[i]
		case v == engine.Cancelled:
			return f, spent, ctx.Err()
		case v == engine.Passed, v == engine.Failed:
			f.Again = append(f.Again, counts[run.State(v)])
		}
		spent.Usage, spent.Spend = spent.Usage.Plus(j.Usage), spent.Spend.Plus(j.Spend)
	}
	return f, spent, nil
}

// judgeOnce judges a conversation again. If the judge, which may belong to an embedding program, panics, the verdict is engine.Error.
func (s *Service) judgeOnce(ctx context.Context, c engine.Case, o engine.Outcome) (j engine.Judgement, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.cfg.Run.Logger.ErrorContext(ctx, "panic in a judge", "run_id", c.Run, "panic", p, "stack", string(debug.Stack()))
			j, err = engine.Judgement{Verdict: engine.Error}, nil
		}
	}()
	return s.cfg.Run.Engine.JudgeAgain(ctx, c, o)
}

// digestOf returns a digest that is equal for conversations with equal words, visited nodes, requests, variables and ends.
func digestOf(e *assert.Evidence) (string, error) {
	did := make([]any, 0, len(e.Turns)+len(e.Visits)+len(e.Webhooks)+2)
	for _, t := range e.Turns {
		did = append(did, []string{"said", string(t.Role), t.Text})
	}
	for _, v := range e.Visits {
		did = append(did, []any{"visited", v.Node, v.Turn})
	}
	for _, w := range e.Webhooks {
		did = append(did, []string{"sent", w.Node, w.Method, w.URL, string(w.Body)})
	}
	raw, err := json.Marshal(append(did, e.Variables, e.End))
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), err
}

// judgements is the engine.Journal with which a run is judged again.
type judgements struct {
	store run.Store
	run   run.Run
}

// Answers returns the answers in the run's journal.
func (j judgements) Answers(ctx context.Context) (map[string][]byte, error) {
	return j.store.Answers(ctx, j.run.Org, j.run.ID)
}

// Append adds an answer to the run's journal.
func (j judgements) Append(ctx context.Context, key string, answer []byte) error {
	return j.store.AppendJudgement(ctx, j.run.Org, j.run.ID, key, answer)
}
