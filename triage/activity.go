package triage

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// PageRequest selects a page of a feed.
type PageRequest struct {
	Limit  int    // 1 to 100; 0 means 50
	Cursor string // Next of the previous page; empty for the first page
}

// ActivityPage holds the entries of a page of a feed.
type ActivityPage struct {
	Items []Entry // newest first; fewer than Limit if they would exceed MaxRead bytes
	Next  string  // Cursor of the next page; empty only on the last page
}

// Activity returns a page of an issue's feed, newest first. Following Next to the end returns each entry that existed at the beginning
// exactly once, even while entries are added. It returns CodeBadRequest for an invalid limit or cursor, and CodeNotFound if the issue is
// absent.
func (s *Service) Activity(ctx context.Context, org callwright.OrgID, id string, p PageRequest) (ActivityPage, error) {
	limit, err := pageLimit(p.Limit)
	if err != nil {
		return ActivityPage{}, err
	}
	before, err := s.openFeed(org, id, p.Cursor)
	if err != nil {
		return ActivityPage{}, err
	}
	items, err := s.cfg.Store.Entries(ctx, org, id, before, limit+1) // an additional entry shows whether a next page exists
	if err == nil && len(items) == 0 {
		_, err = s.cfg.Store.Issue(ctx, org, id) // an absent issue has no entries either
	}
	if err != nil {
		return ActivityPage{}, err
	}
	page := callwright.Fit(items, limit, MaxRead, Entry.Size, Entry.Keyset)
	return ActivityPage{Items: page.Items, Next: s.sealFeed(org, id, page.Next)}, nil
}

// Fold groups the entries of a page. Consecutive entries form a group if each attaches one resource without a detail, and if they have the
// same actor and type of resource. Any other entry forms its own group.
func Fold(items []Entry) (groups [][]Entry) {
	for n, e := range items {
		if n == 0 || !items[n-1].foldsWith(e) {
			groups = append(groups, nil)
		}
		last := &groups[len(groups)-1]
		*last = append(*last, e)
	}
	return groups
}

// foldsWith reports whether two entries belong to one group of Fold.
func (e Entry) foldsWith(other Entry) bool {
	one := func(e Entry) bool { return e.Type == TypeResourceAdded && len(e.Resources) == 1 && e.Detail == "" }
	return one(e) && one(other) && e.Actor == other.Actor && e.Resources[0].Type == other.Resources[0].Type
}

// sealFeed converts a place in an issue's feed to a cursor, for pages and watchers. The zero place is an empty cursor.
func (s *Service) sealFeed(org callwright.OrgID, id string, k callwright.Keyset) string {
	if k.IsZero() {
		return ""
	}
	return s.cfg.Cursors.seal(org, feedOf(id), Place{Value: k.At.UnixMicro(), ID: k.ID})
}

// openFeed converts a cursor of sealFeed to a place. It returns CodeBadRequest for an invalid cursor.
func (s *Service) openFeed(org callwright.OrgID, id, cursor string) (callwright.Keyset, error) {
	p, err := s.cfg.Cursors.open(org, feedOf(id), cursor)
	if err != nil || p == (Place{}) {
		return callwright.Keyset{}, err
	}
	return callwright.Keyset{At: time.UnixMicro(p.Value).UTC(), ID: p.ID}, nil
}

// feedOf returns the name of an issue's feed, which its cursors are bound to.
func feedOf(id string) string { return "feed " + id }
