package triagestore

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/triage"
)

// Store implements triage.Store in memory.
type Store struct{ Store *memstore.Store }

// NextNumber assigns the organization's next issue number and returns it. The first number is triage.FirstNumber.
func (s Store) NextNumber(ctx context.Context, org callwright.OrgID) (number int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		number = triage.FirstNumber
		if last, ok := d.issueNumbers.Rows()[org]; ok {
			number = last + 1
		}
		d.issueNumbers.Set(org, number)
		return nil
	})
	return number, err
}

// InsertIssue adds an issue with Version 1. It returns CodeConflict if its ID, or its number in the organization, is already stored.
func (s Store) InsertIssue(ctx context.Context, i triage.Issue) error {
	return with(ctx, s.Store, func(d *data) error {
		for _, other := range d.issues.Rows() {
			if other.Org == i.Org && other.Number == i.Number {
				return callwright.ErrConflict
			}
		}
		i.Version = 1
		return d.issues.Insert(i)
	})
}

// Issue returns an issue, or CodeNotFound if the organization has no such issue.
func (s Store) Issue(ctx context.Context, org callwright.OrgID, id string) (triage.Issue, error) {
	return read(ctx, s.Store, func(d *data) (triage.Issue, error) { return d.issues.Find(org, id) })
}

// IssueNumbered returns the organization's issue with the given number, or CodeNotFound if there is none.
func (s Store) IssueNumbered(ctx context.Context, org callwright.OrgID, number int) (triage.Issue, error) {
	return read(ctx, s.Store, func(d *data) (triage.Issue, error) {
		for id, found := range d.issues.Rows() {
			if found.Org == org && found.Number == number {
				return d.issues.Find(org, id)
			}
		}
		return triage.Issue{}, d.issues.Absent()
	})
}

// Hold returns an issue, or CodeNotFound if it is absent. It needs no lock, because transactions do not overlap.
func (s Store) Hold(ctx context.Context, org callwright.OrgID, id string) (triage.Issue, error) {
	return s.Issue(ctx, org, id)
}

// UpdateIssue replaces an issue, except its number, source, author and creation time. It returns CodeConflict if the stored revision
// differs, and CodeNotFound if the issue is absent.
func (s Store) UpdateIssue(ctx context.Context, i triage.Issue) error {
	return with(ctx, s.Store, func(d *data) error {
		stored := d.issues.Rows()[i.ID]
		i.Number, i.Source, i.Author, i.CreatedAt = stored.Number, stored.Source, stored.Author, stored.CreatedAt
		return d.issues.Replace(i)
	})
}

// FindIssues returns up to f.Limit issues that match a filter, in its order, without their descriptions.
func (s Store) FindIssues(ctx context.Context, org callwright.OrgID, f triage.Filter) ([]triage.Issue, error) {
	found, err := s.sorted(ctx, org, f, func(d *data, i triage.Issue) bool { return d.matchesFilter(i, f) })
	found = found[:min(f.Limit, len(found))]
	for n := range found {
		found[n].Description = ""
	}
	return memory.Clone(found), err
}

// Reach returns the place of the f.Scan-th issue after f.After, the last one that a page may examine. It counts only open issues if
// f.ReachesOpen returns true. It returns the zero Place if at most f.Scan issues follow.
func (s Store) Reach(ctx context.Context, org callwright.OrgID, f triage.Filter) (triage.Place, error) {
	found, err := s.sorted(ctx, org, f, func(_ *data, i triage.Issue) bool { return !f.ReachesOpen() || i.Status.Open() })
	if len(found) <= f.Scan {
		return triage.Place{}, err
	}
	return found[f.Scan-1].Place(f.Sort), nil
}

// sorted returns the organization's issues for which the function wanted returns true, in the order of a filter. It starts behind f.After
// and stops at f.Until. It does not copy the issues.
func (s Store) sorted(
	ctx context.Context, org callwright.OrgID, f triage.Filter, wanted func(*data, triage.Issue) bool,
) (found []triage.Issue, err error) {
	order := func(a, b triage.Place) int {
		n := cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.ID, b.ID))
		if f.Ascending {
			return n
		}
		return -n
	}
	err = with(ctx, s.Store, func(d *data) error {
		for _, i := range d.issues.Rows() {
			place := i.Place(f.Sort)
			if i.Org == org && wanted(d, i) && (f.After == triage.Place{} || order(place, f.After) > 0) &&
				(f.Until == triage.Place{} || order(place, f.Until) <= 0) {
				found = append(found, i)
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b triage.Issue) int { return order(a.Place(f.Sort), b.Place(f.Sort)) })
	return found, err
}

func (d *data) matchesFilter(i triage.Issue, f triage.Filter) bool {
	return isOneOf(i.Status, f.Statuses) && isOneOf(i.Severity, f.Severities) && isOneOf(i.Category, f.Categories) &&
		(f.Resource == "" || d.hasAttached(i.ID, f.Resource)) &&
		(f.OwnerID == "" || i.OwnerID == f.OwnerID) &&
		(f.AssigneeID == "" || i.AssigneeID == f.AssigneeID) && (!f.Unassigned || i.AssigneeID == "") &&
		isFound(i, f.Search) &&
		(f.Since.IsZero() || !filterTime(i, f.DateField).Before(f.Since))
}

func isOneOf[T comparable](value T, all []T) bool {
	return len(all) == 0 || slices.Contains(all, value)
}

func (d *data) hasAttached(issue string, t triage.ResourceType) bool {
	for _, r := range d.attached.Rows() {
		if r.IssueID == issue && r.Type == t {
			return true
		}
	}
	return false
}

// isFound reports whether the title or description of an issue contains a search text, or the issue's name equals that text. It ignores
// case.
func isFound(i triage.Issue, search string) bool {
	search = strings.ToLower(search)
	return strings.Contains(strings.ToLower(i.Title), search) ||
		strings.Contains(strings.ToLower(i.Description), search) ||
		strings.ToLower(i.Name()) == search
}

func filterTime(i triage.Issue, field triage.SortField) time.Time {
	switch field {
	case triage.SortCreated:
		return i.CreatedAt
	case triage.SortUpdated:
		return i.UpdatedAt
	default:
		return i.LastActivityAt
	}
}
