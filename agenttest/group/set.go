package group

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/stats"
)

// Statistics describes the ended runs of a simulation set, by scenario and overall.
type Statistics struct {
	Scenarios []stats.Scenario // in the order of Batch.Scenarios
	Overall   stats.Overall
}

// GetSet returns a simulation set with its statistics, even while its runs execute. The statistics of a running set of more than 1,000 runs
// may be up to 2 seconds old. Callers share the statistics and must not change them. GetSet returns CodeNotFound if no simulation set has
// the id, and CodeTooManyRequests if too many reads run concurrently: see run.MaxReads.
func (s *Service) GetSet(ctx context.Context, org callwright.OrgID, id string) (Batch, Statistics, error) {
	b, err := s.groupOf(ctx, org, id, Simulations)
	if err != nil {
		return Batch{}, Statistics{}, err
	}
	if b.concluded() {
		return b, *b.Statistics, nil
	}
	st, err := s.view(ctx, b)
	return b, st, err
}

// maxReason is the length in bytes to which statistics truncate a failure's reason.
const maxReason = 500

// runsPage is the number of runs that one query for statistics reads.
const runsPage = 1000

// statistics returns the statistics of a set. It reads all ended runs once.
func (s *Service) statistics(ctx context.Context, b Batch) (Statistics, error) {
	ended := make(map[string][]stats.Run, len(b.Scenarios))
	err := s.eachEnded(ctx, b, func(r run.Run) { ended[r.Scenario] = append(ended[r.Scenario], counted(r)) })
	if err != nil {
		return Statistics{}, err
	}
	st := Statistics{Scenarios: make([]stats.Scenario, len(b.Scenarios))}
	for i, part := range b.Scenarios {
		st.Scenarios[i] = b.describe(i, ended[part.Scenario])
	}
	st.Overall = stats.Summarize(st.Scenarios)
	return st, nil
}

// eachEnded calls f for the ended runs of a group, oldest first. It keeps only one page of runs in memory.
func (s *Service) eachEnded(ctx context.Context, b Batch, f func(run.Run)) error {
	page := run.Filter{Batch: b.ID, States: []run.State{run.Passed, run.Failed, run.Error, run.Cancelled}, Oldest: true, Limit: runsPage}
	for {
		runs, err := s.cfg.Run.Store.FindRuns(ctx, b.Org, page)
		if err != nil {
			return err
		}
		for _, r := range runs {
			f(r)
		}
		if len(runs) < page.Limit {
			return nil
		}
		last := runs[len(runs)-1]
		page.After = callwright.Keyset{At: last.CreatedAt, ID: last.ID}
	}
}

// describe returns the statistics of the i-th scenario. It reads at most MaxSimulations ended runs.
func (s *Service) describe(ctx context.Context, b Batch, i int) (stats.Scenario, error) {
	runs, err := s.cfg.Run.Store.FindRuns(ctx, b.Org, run.Filter{
		Batch: b.ID, Scenario: b.Scenarios[i].Scenario, States: []run.State{run.Passed, run.Failed, run.Error, run.Cancelled}, Oldest: true, Limit: MaxSimulations,
	})
	if err != nil {
		return stats.Scenario{}, err
	}
	ended := make([]stats.Run, len(runs))
	for j, r := range runs {
		ended[j] = counted(r)
	}
	return b.describe(i, ended), nil
}

// describe returns the statistics of the i-th scenario, given its ended runs.
func (b Batch) describe(i int, ended []stats.Run) stats.Scenario {
	described := stats.Describe(ended, b.Simulations)
	if b.Flakes != nil && i < len(b.Flakes.Sources) {
		described.FlakeSource = b.Flakes.Sources[i]
	}
	return described
}

// counted converts an ended run for package stats.
func counted(r run.Run) stats.Run {
	run := stats.Run{ID: r.ID, State: counts[r.State], Score: r.Result.Score}
	if f := r.Result.Failure; f != nil {
		run.Failure = &stats.Failure{
			Assertion: f.Assertion, Type: string(f.Type), Code: string(f.Code), Node: f.Node, End: string(f.End),
			Reason: callwright.Clip(f.Reason, maxReason),
		}
	}
	return run
}

// counts maps final run states to the states of package stats.
var counts = map[run.State]stats.State{run.Passed: stats.Passed, run.Failed: stats.Failed, run.Error: stats.Error, run.Cancelled: stats.Cancelled}
