package agenttest

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/stats"
)

// Statistics describes the runs of a simulation set that have ended.
type Statistics struct {
	Scenarios []stats.Scenario // in the order of Batch.Scenarios
	Overall   stats.Overall
}

// GetSet returns a simulation set with its statistics, also while it runs. CodeNotFound: the organization has no simulation
// set of this id.
func (s *Service) GetSet(ctx context.Context, org callwright.OrgID, id string) (Batch, Statistics, error) {
	b, err := s.groupOf(ctx, org, id, Simulations)
	if err != nil {
		return Batch{}, Statistics{}, err
	}
	if b.concluded() {
		return b, *b.Statistics, nil
	}
	st, err := s.statistics(ctx, b)
	return b, st, err
}

// maxReason is how many bytes of the reason of a failure statistics look at.
const maxReason = 500

// statistics describes the scenarios one after the other.
func (s *Service) statistics(ctx context.Context, b Batch) (Statistics, error) {
	st := Statistics{Scenarios: make([]stats.Scenario, len(b.Scenarios))}
	for i := range b.Scenarios {
		var err error
		if st.Scenarios[i], err = s.describe(ctx, b, i); err != nil {
			return Statistics{}, err
		}
	}
	st.Overall = stats.Summarize(st.Scenarios)
	return st, nil
}

// describe reads the runs of one scenario that have ended, at most MaxSimulations.
func (s *Service) describe(ctx context.Context, b Batch, i int) (stats.Scenario, error) {
	runs, err := s.cfg.Store.FindRuns(ctx, b.Org, RunFilter{
		Batch: b.ID, Scenario: b.Scenarios[i].Scenario, States: []State{Passed, Failed, Error, Cancelled}, Oldest: true, Limit: MaxSimulations,
	})
	if err != nil {
		return stats.Scenario{}, err
	}
	ended := make([]stats.Run, len(runs))
	for j, r := range runs {
		ended[j] = counted(r)
	}
	described := stats.Describe(ended, b.Simulations)
	if b.Flakes != nil && i < len(b.Flakes.Sources) {
		described.FlakeSource = b.Flakes.Sources[i]
	}
	return described, nil
}

// counted returns a run that has ended as statistics see it.
func counted(r Run) stats.Run {
	run := stats.Run{ID: r.ID, State: counts[r.State], Score: r.Result.Score}
	if f := r.Result.Failure; f != nil {
		run.Failure = &stats.Failure{
			Assertion: f.Assertion, Type: string(f.Type), Code: string(f.Code), Node: f.Node, End: string(f.End),
			Reason: callwright.Clip(f.Reason, maxReason),
		}
	}
	return run
}

// counts are the final states as statistics name them.
var counts = map[State]stats.State{Passed: stats.Passed, Failed: stats.Failed, Error: stats.Error, Cancelled: stats.Cancelled}
