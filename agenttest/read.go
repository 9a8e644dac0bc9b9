package agenttest

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
)

// GetRun returns one run with its outcome and with what it tested. CodeNotFound: the organization has none of this id.
func (s *Service) GetRun(ctx context.Context, org callwright.OrgID, id string) (Run, Snapshot, error) {
	r, err := s.cfg.Store.Run(ctx, org, id)
	if err != nil {
		return Run{}, Snapshot{}, err
	}
	snap, err := s.cfg.Store.Snapshot(ctx, org, r.Snapshot)
	return r, snap, err
}

// ListRuns returns a page of runs, newest first, and how many the filter chooses in all. Their outcomes have short results and
// nothing else. A Limit that is not from 1 to MaxPage is MaxPage.
func (s *Service) ListRuns(ctx context.Context, org callwright.OrgID, f RunFilter) (runs []Run, total int, err error) {
	if f.Limit < 1 || f.Limit > MaxPage {
		f.Limit = MaxPage
	}
	if total, err = s.cfg.Store.CountRuns(ctx, org, f); err != nil {
		return nil, 0, err
	}
	runs, err = s.listed(ctx, org, f)
	return runs, total, err
}

// GetBatch returns a batch with its runs, which are as in lists. CodeNotFound: the organization has no batch of this id.
func (s *Service) GetBatch(ctx context.Context, org callwright.OrgID, id string) (Batch, []Run, error) {
	b, err := s.cfg.Store.Batch(ctx, org, id)
	if err == nil && b.Kind != OneEach {
		err = callwright.NotFound("batch")
	}
	if err != nil {
		return Batch{}, nil, err
	}
	runs, err := s.listed(ctx, org, RunFilter{Batch: id, Oldest: true, Limit: MaxScenarios})
	return b, runs, err
}

// maxShort is how many bytes the reasoning of a short result has at most.
const maxShort = 500

// listed returns the runs that f chooses, with outcomes that have short results and nothing else. It reads one outcome at a
// time, because an outcome may have megabytes.
func (s *Service) listed(ctx context.Context, org callwright.OrgID, f RunFilter) ([]Run, error) {
	runs, err := s.cfg.Store.FindRuns(ctx, org, f)
	if err != nil {
		return nil, err
	}
	for i := range runs {
		if !runs[i].State.Ended() {
			continue
		}
		full, err := s.cfg.Store.Run(ctx, org, runs[i].ID)
		if ignoreAbsent(err) != nil {
			return nil, err
		}
		if full.Outcome != nil {
			runs[i].Outcome = &engine.Outcome{Results: short(full.Outcome.Results)}
		}
	}
	return runs, nil
}

// short returns results without what they rest on.
func short(results []assert.Result) []assert.Result {
	list := make([]assert.Result, len(results))
	for i, r := range results {
		list[i] = assert.Result{
			Assertion: r.Assertion, Type: r.Type, Name: r.Name, Required: r.Required, Weight: r.Weight, Outcome: r.Outcome,
			Score: r.Score, Code: r.Code, Reasoning: callwright.Clip(r.Reasoning, maxShort), Agreement: r.Agreement,
		}
	}
	return list
}
