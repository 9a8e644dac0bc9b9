package run

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
)

// MaxPage is the maximum number of runs or groups in a page.
const MaxPage = 100

// GetRun returns one run with its outcome and its snapshot, or CodeNotFound if the id is unknown.
func (s *Service) GetRun(ctx context.Context, org callwright.OrgID, id string) (Run, Snapshot, error) {
	r, err := s.cfg.Store.Run(ctx, org, id)
	if err != nil {
		return Run{}, Snapshot{}, err
	}
	snap, err := s.cfg.Store.Snapshot(ctx, org, r.Snapshot)
	return r, snap, err
}

// ListRuns returns a page of the runs that f selects, newest first, and the total number of selected runs, which is 0 if f.SkipCount is
// set. The runs' outcomes contain only short results. A Limit outside 1 to MaxPage means MaxPage.
func (s *Service) ListRuns(ctx context.Context, org callwright.OrgID, f Filter) (runs []Run, total int, err error) {
	if f.Limit < 1 || f.Limit > MaxPage {
		f.Limit = MaxPage
	}
	if !f.SkipCount {
		if total, err = s.cfg.Store.CountRuns(ctx, org, f); err != nil {
			return nil, 0, err
		}
	}
	runs, err = s.listed(ctx, org, f)
	return runs, total, err
}

// PageRuns is like ListRuns, but returns the keyset of the next page instead of the number of selected runs. f.After is the Next of the
// previous page.
func (s *Service) PageRuns(ctx context.Context, org callwright.OrgID, f Filter) (callwright.Page[Run], error) {
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

// listed returns the runs that f selects. Their outcomes contain only short results.
func (s *Service) listed(ctx context.Context, org callwright.OrgID, f Filter) ([]Run, error) {
	runs, err := s.cfg.Store.FindRuns(ctx, org, f)
	for i := range runs {
		if checks := runs[i].Result.Checks; len(checks) > 0 {
			runs[i].Outcome = &engine.Outcome{Results: Results(checks)}
		}
	}
	return runs, err
}

// maxShort is the length in bytes to which a Check's reasoning is truncated.
const maxShort = 500

// NewChecks returns the short form of results. It omits, for example, expected and actual values, quotes and tones, and truncates the
// reasoning.
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

// Results returns the results that checks describe in short form.
func Results(checks []Check) []assert.Result {
	list := make([]assert.Result, len(checks))
	for i, c := range checks {
		list[i] = assert.Result{
			Assertion: c.Assertion, Type: c.Type, Name: c.Name, Required: c.Required, Weight: c.Weight, Outcome: c.Outcome,
			Score: c.Score, Code: c.Code, Reasoning: c.Reasoning, Agreement: c.Agreement,
		}
	}
	return list
}
