package agenttest

import (
	"context"

	"github.com/callwright/callwright"
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

// ListRuns returns a page of runs without their outcomes, newest first, and how many the filter chooses in all. A Limit that
// is not from 1 to MaxPage is MaxPage.
func (s *Service) ListRuns(ctx context.Context, org callwright.OrgID, f RunFilter) (runs []Run, total int, err error) {
	if f.Limit < 1 || f.Limit > MaxPage {
		f.Limit = MaxPage
	}
	if total, err = s.cfg.Store.CountRuns(ctx, org, f); err != nil {
		return nil, 0, err
	}
	runs, err = s.cfg.Store.FindRuns(ctx, org, f)
	return runs, total, err
}

// GetBatch returns a batch with its runs, which have no outcomes. CodeNotFound: the organization has no batch of this id.
func (s *Service) GetBatch(ctx context.Context, org callwright.OrgID, id string) (Batch, []Run, error) {
	b, err := s.cfg.Store.Batch(ctx, org, id)
	if err == nil && b.Kind != OneEach {
		err = callwright.NotFound("batch")
	}
	if err != nil {
		return Batch{}, nil, err
	}
	runs, err := s.cfg.Store.FindRuns(ctx, org, RunFilter{Batch: id, Oldest: true, Limit: MaxScenarios})
	return b, runs, err
}
