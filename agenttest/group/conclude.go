package group

import (
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/stats"
)

// These constants are the durable tasks that follow the end of a simulation set.
const (
	taskConclude = "agenttest.conclude" // stores the set's statistics

	taskModes callwright.TaskKind[modesOf] = "agenttest.modes" // reports the failures of one scenario
)

// modesOf is the argument of taskModes.
type modesOf struct {
	Scenario int // index in Batch.Scenarios
}

// stepTime is the duration after which a step of finishSet leaves the remaining scenarios to the next step.
const stepTime = 5 * time.Second

// finishSet stores the statistics of an ended set. If this takes longer than stepTime, it stores the statistics of some scenarios, and
// enqueues itself for the others. The last step also enqueues the reports of failures. finishSet may be called more than once.
func (s *Service) finishSet(ctx context.Context, t callwright.Task, _ int) error {
	b, err := s.cfg.Store.Batch(ctx, t.Org, t.Key)
	if err != nil || !b.State.Ended() || b.concluded() {
		return callwright.IgnoreNotFound(err)
	}
	if b.Statistics == nil {
		b.Statistics = &Statistics{}
	}
	for began := s.cfg.Run.Clock.Now(); !b.concluded() && s.cfg.Run.Clock.Now().Sub(began) < stepTime; {
		next, err := s.describe(ctx, b, len(b.Statistics.Scenarios))
		if err != nil {
			return err
		}
		b.Statistics.Scenarios = append(b.Statistics.Scenarios, next)
	}
	return s.cfg.Run.Atomic.Do(ctx, func(ctx context.Context) error {
		if !b.concluded() {
			if err := s.cfg.Store.UpdateBatch(ctx, b); err != nil {
				return callwright.IgnoreNotFound(err)
			}
			return s.ledger.enqueue(ctx, b.Org, b.ID, taskConclude)
		}
		b.Statistics.Overall = stats.Summarize(b.Statistics.Scenarios)
		if err := s.cfg.Store.UpdateBatch(ctx, b); err != nil {
			return callwright.IgnoreNotFound(err)
		}
		return s.enqueueModes(ctx, b)
	})
}

// concluded reports whether the statistics of all scenarios of a set are stored.
func (b Batch) concluded() bool {
	return b.Statistics != nil && len(b.Statistics.Scenarios) == len(b.Scenarios)
}

// enqueueModes enqueues, in the transaction of ctx, a report for each scenario with failures. It does nothing for experiments, or if
// Config.Failures is nil.
func (s *Service) enqueueModes(ctx context.Context, b Batch) error {
	if b.experiment() {
		return nil
	}
	for i, sc := range b.Statistics.Scenarios {
		if s.cfg.Failures == nil || len(sc.Modes) == 0 {
			continue
		}
		if err := taskModes.Enqueue(ctx, s.cfg.Run.Work, callwright.Task{Key: b.ID, Org: b.Org}, modesOf{i}); err != nil {
			return err
		}
	}
	return nil
}

// tellModes reports the failure modes of one scenario. A repeated call reports the same runs.
func (s *Service) tellModes(ctx context.Context, t callwright.Task, of modesOf, _ int) error {
	b, err := s.cfg.Store.Batch(ctx, t.Org, t.Key)
	if err != nil || !b.concluded() || of.Scenario >= len(b.Scenarios) || s.cfg.Failures == nil {
		return callwright.IgnoreNotFound(err)
	}
	for _, m := range modes(b.Statistics.Scenarios[of.Scenario]) {
		m.Org, m.Set, m.Scenario = b.Org, b.ID, b.Scenarios[of.Scenario]
		if err := s.cfg.Failures.ModeFailed(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// modes returns the failure modes of a scenario. It combines modes of the statistics that have the same Failure.Key.
func modes(s stats.Scenario) []FailureMode {
	var list []FailureMode
	for _, m := range s.Modes {
		f := run.Failure{
			Assertion: m.Failure.Assertion, Type: assert.Type(m.Failure.Type), Code: assert.Code(m.Failure.Code), Node: m.Failure.Node,
			End: assert.EndReason(m.Failure.End), Reason: m.Label,
		}
		i := slices.IndexFunc(list, func(o FailureMode) bool { return o.Failure.Key() == f.Key() })
		if i < 0 {
			i = len(list)
			list = append(list, FailureMode{Failure: f, Scored: s.Passed + s.Failed})
		}
		list[i].Count += m.Count
		list[i].Runs = append(list[i].Runs, m.Runs...)
	}
	for i := range list {
		slices.Sort(list[i].Runs) // the order of ids is the order in which runs were created
		list[i].Runs = list[i].Runs[:min(len(list[i].Runs), MaxEvidence)]
	}
	return list
}
