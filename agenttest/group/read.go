package group

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/run"
)

// GetBatch returns a batch with its runs in short form, or CodeNotFound if no batch has the id.
func (s *Service) GetBatch(ctx context.Context, org callwright.OrgID, id string) (Batch, []run.Run, error) {
	b, err := s.groupOf(ctx, org, id, OneEach)
	if err != nil {
		return Batch{}, nil, err
	}
	runs, err := s.runs(ctx, b)
	return b, runs, err
}

// runs returns the runs of a batch in short form.
func (s *Service) runs(ctx context.Context, b Batch) ([]run.Run, error) {
	runs, _, err := s.ListRuns(ctx, b.Org, run.Filter{Batch: b.ID, Oldest: true, SkipCount: true, Limit: MaxScenarios})
	return runs, err
}

// ListBatches returns a page of the groups that f selects, newest first, and the total number of selected groups. A Limit outside 1 to
// MaxPage means MaxPage.
func (s *Service) ListBatches(
	ctx context.Context, org callwright.OrgID, f Filter,
) (batches []Listed, total int, err error) {
	if f.Limit < 1 || f.Limit > run.MaxPage {
		f.Limit = run.MaxPage
	}
	if total, err = s.cfg.Store.CountBatches(ctx, org, f); err != nil {
		return nil, 0, err
	}
	batches, err = s.cfg.Store.FindBatches(ctx, org, f)
	return batches, total, err
}

// PageBatches is like ListBatches, but reports whether more groups follow instead of counting them.
func (s *Service) PageBatches(
	ctx context.Context, org callwright.OrgID, f Filter,
) (batches []Listed, more bool, err error) {
	limit := f.Limit
	if limit < 1 || limit > run.MaxPage {
		limit = run.MaxPage
	}
	f.Limit = limit + 1
	batches, err = s.cfg.Store.FindBatches(ctx, org, f)
	return batches[:min(limit, len(batches))], len(batches) > limit, err
}
