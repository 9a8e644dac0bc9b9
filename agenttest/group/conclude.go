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

// The durable work after the end of a simulation set.
const (
	taskConclude = "agenttest.conclude" // stores its statistics

	taskModes callwright.TaskKind[modesOf] = "agenttest.modes" // reports the failures of one scenario
)

// modesOf names a scenario of a set.
type modesOf struct {
	Scenario int // index in Batch.Scenarios
}

// stepTime is the time after which a step of this work leaves the rest to the next one.
const stepTime = 5 * time.Second

// finishSet stores the statistics of an ended set, of a few scenarios in each step if it takes long. With the last one it enqueues
// the reports of failures. It may be called twice.
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

// concluded reports whether the statistics of a set are stored.
func (b Batch) concluded() bool {
	return b.Statistics != nil && len(b.Statistics.Scenarios) == len(b.Scenarios)
}

// enqueueModes enqueues a report of each scenario's failures, in the transaction of ctx, except for experiments.
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

// tellModes reports the failures of one scenario. A repeated call names the same runs.
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

// modes returns the ways in which the runs of a scenario have failed. Statistics distinguish more of them than Failure.Key.
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
		slices.Sort(list[i].Runs) // ids are in the order in which runs were created
		list[i].Runs = list[i].Runs[:min(len(list[i].Runs), MaxEvidence)]
	}
	return list
}
