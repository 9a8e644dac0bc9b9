package agenttest

import (
	"context"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/stats"
)

// taskConclude stores the statistics of a simulation set that has ended, and tells its failures.
const taskConclude = "agenttest.conclude"

// conclude may be called twice: statistics that are stored stay, and failures are reported with the same runs.
func (s *Service) conclude(ctx context.Context, t callwright.Task, _ int) error {
	b, err := s.cfg.Store.Batch(ctx, t.Org, t.Key)
	if err != nil || !b.State.Ended() {
		return ignoreAbsent(err)
	}
	if b.Statistics == nil {
		st, err := s.statistics(ctx, b)
		if err != nil {
			return err
		}
		b.Statistics = &st
		if err := s.cfg.Store.UpdateBatch(ctx, b); err != nil {
			return ignoreAbsent(err)
		}
	}
	if s.cfg.Failures == nil {
		return nil
	}
	for i, part := range b.Scenarios {
		for _, m := range modes(b.Statistics.Scenarios[i]) {
			m.Org, m.Set, m.Scenario = b.Org, b.ID, part
			if err := s.cfg.Failures.ModeFailed(ctx, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// modes returns the ways in which the runs of a scenario have failed. Statistics also tell failures apart by their reasons and
// by the ends of the conversations, which differ too much from one set to the next to recognize a failure by them.
func modes(s stats.Scenario) []FailureMode {
	var list []FailureMode
	for _, m := range s.Modes {
		f := Failure{
			Assertion: m.Failure.Assertion, Type: assert.Type(m.Failure.Type), Code: assert.Code(m.Failure.Code), Node: m.Failure.Node,
			End: assert.EndReason(m.Failure.End), Reason: m.Label,
		}
		i := slices.IndexFunc(list, func(o FailureMode) bool {
			return o.Failure.Assertion == f.Assertion && o.Failure.Code == f.Code && o.Failure.Node == f.Node
		})
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
