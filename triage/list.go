package triage

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/callwright/callwright"
)

// Limits of pages.
const (
	defaultPage = 50
	maxPage     = 100
	maxSearch   = 200 // length of Search, in characters
	maxValues   = 50  // alternatives of a condition
)

// Limits of searches. A search reads all candidate texts, and holds a database connection meanwhile.
const (
	maxSearches = 2 // concurrent searches on a node; at most one per organization
	searchWait  = 5 * time.Second
)

// Query selects a page of issues. Cursor replaces Filter.After.
type Query struct {
	Filter        // Limit is 1 to 100, and 0 means 50; Until is ignored
	Cursor string // Next of the previous page, with the same conditions and order; empty for the first page
}

// IssuePage holds the issues of a page.
type IssuePage struct {
	Items []Issue // without their descriptions
	Next  string  // Cursor of the next page, or empty on the last
}

// List returns a page of issues. An issue whose sort value changes between two pages may appear on both pages or on none. Every other issue
// appears once. With Scan, a page may be short or even empty although more pages follow. A search waits while another search of the
// organization, or two searches of other organizations, run on this node. After 5 seconds, List returns CodeUnavailable with a RetryAfter.
func (s *Service) List(ctx context.Context, org callwright.OrgID, q Query) (IssuePage, error) {
	limit, err := pageLimit(q.Limit)
	if err != nil {
		return IssuePage{}, err
	}
	f, err := q.normal()
	if err != nil {
		return IssuePage{}, err
	}
	list := f.list()
	if f.After, err = s.cfg.Cursors.open(org, list, q.Cursor); err != nil {
		return IssuePage{}, err
	}
	if f.Scan > 0 {
		if f.Until, err = s.cfg.Store.Reach(ctx, org, f); err != nil {
			return IssuePage{}, err
		}
	}
	if f.Search != "" {
		release, err := s.searches.Claim(ctx, string(org), 1)
		if err != nil {
			return IssuePage{}, err
		}
		defer release()
	}
	f.Limit = limit + 1 // an additional issue shows whether a next page exists
	items, err := s.cfg.Store.FindIssues(ctx, org, f)
	last := f.Until
	if len(items) > limit {
		items = items[:limit]
		last = items[limit-1].Place(f.Sort)
	}
	if err != nil || last == (Place{}) {
		return IssuePage{Items: items}, err
	}
	return IssuePage{Items: items, Next: s.cfg.Cursors.seal(org, list, last)}, nil
}

// pageLimit returns the number of items on a page: limit, or the default for 0. It refuses a limit that is out of range.
func pageLimit(limit int) (int, error) {
	switch {
	case limit == 0:
		return defaultPage, nil
	case limit < 0 || limit > maxPage:
		return 0, callwright.Invalid("limit", "must be from 1 to %d", maxPage)
	}
	return limit, nil
}

// normal returns the filter with defaults set and alternatives sorted, so that equivalent filters become equal. It refuses invalid and
// contradictory filters.
func (f Filter) normal() (Filter, error) {
	for _, s := range f.Statuses {
		if err := checkOneOf("status", s, Statuses()...); err != nil {
			return Filter{}, err
		}
	}
	for _, s := range f.Severities {
		if err := checkOneOf("severity", s, Severities()...); err != nil {
			return Filter{}, err
		}
	}
	if n := max(len(f.Statuses), len(f.Severities), len(f.Categories)); n > maxValues {
		return Filter{}, callwright.Invalid("", "status, severity and category must have at most %d values each, not %d", maxValues, n)
	}
	if f.Scan < 0 {
		return Filter{}, callwright.Invalid("scan", "must not be negative")
	}
	if f.Unassigned && f.AssigneeID != "" {
		return Filter{}, callwright.Invalid("assignee_id", "must be empty when issues without an assignee are asked for")
	}
	if err := f.checkTexts(); err != nil {
		return Filter{}, err
	}
	if f.DateField == "" {
		f.DateField = SortActivity
	}
	if err := checkOneOf("date_field", f.DateField, SortActivity, SortCreated, SortUpdated); err != nil {
		return Filter{}, err
	}
	if f.Sort == "" {
		f.Sort = SortActivity
	}
	f.Statuses, f.Severities, f.Categories = sorted(f.Statuses), sorted(f.Severities), sorted(f.Categories)
	return f, checkOneOf("sort", f.Sort, SortActivity, SortCreated, SortSeverity, SortStatus)
}

// checkTexts refuses texts that databases cannot search for, and texts that are longer than any stored one.
func (f Filter) checkTexts() error {
	for i, c := range f.Categories {
		if err := checkText(fmt.Sprintf("category[%d]", i), c, maxName); err != nil {
			return err
		}
	}
	if err := checkText("resource_type", string(f.Resource), maxID); err != nil {
		return err
	}
	if err := checkText("owner_id", f.OwnerID, maxID); err != nil {
		return err
	}
	if err := checkText("assignee_id", f.AssigneeID, maxID); err != nil {
		return err
	}
	return checkText("search", f.Search, maxSearch)
}

// sorted returns the distinct values, sorted.
func sorted[T ~string](values []T) []T {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}

// list returns a name for the list that a normal filter selects, to which cursors are bound. The name does not depend on the limits of a
// page. It states only whether Since is set, because the start of "the last 24 hours" differs for each page.
func (f Filter) list() string {
	assignee := strconv.Quote(f.AssigneeID)
	if f.Unassigned {
		assignee = "nobody"
	}
	return fmt.Sprintf("issues %q %q %q %q %q %s %q %q %t %q %t", f.Statuses, f.Severities, f.Categories, f.Resource, f.OwnerID,
		assignee, f.Search, f.DateField, !f.Since.IsZero(), f.Sort, f.Ascending)
}

// Place returns the place of the issue in a list that is sorted by a field.
func (i Issue) Place(by SortField) Place {
	p := Place{ID: i.ID}
	switch by {
	case SortSeverity:
		p.Value = int64(slices.Index(Severities(), i.Severity))
	case SortStatus:
		p.Value = int64(slices.Index(Statuses(), i.Status))
	case SortCreated:
		p.Value = i.CreatedAt.UnixMicro()
	case SortUpdated:
		p.Value = i.UpdatedAt.UnixMicro()
	default:
		p.Value = i.LastActivityAt.UnixMicro()
	}
	return p
}
