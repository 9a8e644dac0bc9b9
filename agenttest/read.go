package agenttest

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
)

// GetRun returns one run with its outcome and its snapshot. CodeNotFound: unknown id.
func (s *Service) GetRun(ctx context.Context, org callwright.OrgID, id string) (Run, Snapshot, error) {
	r, err := s.cfg.Store.Run(ctx, org, id)
	if err != nil {
		return Run{}, Snapshot{}, err
	}
	snap, err := s.cfg.Store.Snapshot(ctx, org, r.Snapshot)
	return r, snap, err
}

// ListRuns returns a page of runs, newest first, and the number of all selected ones. Their outcomes contain only short results.
// Any Limit outside 1 to MaxPage means MaxPage.
func (s *Service) ListRuns(ctx context.Context, org callwright.OrgID, f RunFilter) (runs []Run, total int, err error) {
	if f.Limit < 1 || f.Limit > MaxPage {
		f.Limit = MaxPage
	}
	if !f.Uncounted {
		if total, err = s.cfg.Store.CountRuns(ctx, org, f); err != nil {
			return nil, 0, err
		}
	}
	runs, err = s.listed(ctx, org, f)
	return runs, total, err
}

// PageRuns returns a page of runs without a count of all; otherwise see ListRuns. A page may begin at f.After.
func (s *Service) PageRuns(ctx context.Context, org callwright.OrgID, f RunFilter) (callwright.Page[Run], error) {
	limit := f.Limit
	if limit < 1 || limit > MaxPage {
		limit = MaxPage
	}
	f.Limit = limit + 1
	runs, err := s.listed(ctx, org, f)
	page := callwright.Page[Run]{Items: runs[:min(limit, len(runs))]}
	if len(runs) > limit {
		page.Next = callwright.Keyset{At: runs[limit-1].CreatedAt, ID: runs[limit-1].ID}
	}
	return page, err
}

// GetBatch returns a batch with its runs, in the form of lists. CodeNotFound: unknown id.
func (s *Service) GetBatch(ctx context.Context, org callwright.OrgID, id string) (Batch, []Run, error) {
	b, err := s.groupOf(ctx, org, id, OneEach)
	if err != nil {
		return Batch{}, nil, err
	}
	runs, err := s.listed(ctx, org, RunFilter{Batch: id, Oldest: true, Limit: MaxScenarios})
	return b, runs, err
}

// ListBatches returns a page of groups of a kind, newest first, and the number of all selected ones. Any Limit outside 1 to MaxPage
// means MaxPage.
func (s *Service) ListBatches(
	ctx context.Context, org callwright.OrgID, f BatchFilter,
) (batches []ListedBatch, total int, err error) {
	if f.Limit < 1 || f.Limit > MaxPage {
		f.Limit = MaxPage
	}
	if total, err = s.cfg.Store.CountBatches(ctx, org, f); err != nil {
		return nil, 0, err
	}
	batches, err = s.cfg.Store.FindBatches(ctx, org, f)
	return batches, total, err
}

// PageBatches returns a page of groups without a count of all, and whether more exist; otherwise see ListBatches.
func (s *Service) PageBatches(
	ctx context.Context, org callwright.OrgID, f BatchFilter,
) (batches []ListedBatch, more bool, err error) {
	limit := f.Limit
	if limit < 1 || limit > MaxPage {
		limit = MaxPage
	}
	f.Limit = limit + 1
	batches, err = s.cfg.Store.FindBatches(ctx, org, f)
	return batches[:min(limit, len(batches))], len(batches) > limit, err
}

// listed returns the runs that f selects, with outcomes that contain only short results.
func (s *Service) listed(ctx context.Context, org callwright.OrgID, f RunFilter) ([]Run, error) {
	runs, err := s.cfg.Store.FindRuns(ctx, org, f)
	for i := range runs {
		if checks := runs[i].Result.Checks; len(checks) > 0 {
			runs[i].Outcome = &engine.Outcome{Results: results(checks)}
		}
	}
	return runs, err
}

// maxShort is the maximum length of a Check's reasoning, in bytes.
const maxShort = 500

// NewChecks returns results without their evidence.
func NewChecks(results []assert.Result) []Check {
	list := make([]Check, len(results))
	for i, r := range results {
		list[i] = Check{
			Assertion: r.Assertion, Type: r.Type, Name: r.Name, Required: r.Required, Weight: r.Weight, Outcome: r.Outcome,
			Score: r.Score, Code: r.Code, Reasoning: callwright.Clip(r.Reasoning, maxShort), Agreement: r.Agreement,
		}
	}
	return list
}

// results returns short results.
func results(checks []Check) []assert.Result {
	list := make([]assert.Result, len(checks))
	for i, c := range checks {
		list[i] = assert.Result{
			Assertion: c.Assertion, Type: c.Type, Name: c.Name, Required: c.Required, Weight: c.Weight, Outcome: c.Outcome,
			Score: c.Score, Code: c.Code, Reasoning: c.Reasoning, Agreement: c.Agreement,
		}
	}
	return list
}
