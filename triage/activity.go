package triage

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// PageRequest asks for a page of a feed.
type PageRequest struct {
	Limit  int    // 1 to 100; 0: 50
	Cursor string // Next of the previous page; empty: the first page
}

// ActivityPage is a page of a feed.
type ActivityPage struct {
	Items []Entry // newest first; fewer than Limit when they exceed MaxRead bytes
	Next  string  // the Cursor of the next page; empty exactly at the end, so that no page but the first is empty
}

// Activity returns a page of an issue's feed, newest first. Following Next to the end yields every entry that existed at the
// beginning exactly once, even during writes. An impossible limit or cursor is CodeBadRequest, an absent issue CodeNotFound.
func (s *Service) Activity(ctx context.Context, org callwright.OrgID, id string, p PageRequest) (ActivityPage, error) {
	limit, err := pageLimit(p.Limit)
	if err != nil {
		return ActivityPage{}, err
	}
	before, err := s.openFeed(org, id, p.Cursor)
	if err != nil {
		return ActivityPage{}, err
	}
	items, err := s.cfg.Store.Entries(ctx, org, id, before, limit+1) // one more shows whether a next page exists
	if err == nil && len(items) == 0 {
		_, err = s.cfg.Store.Issue(ctx, org, id) // an absent issue has no entries, either
	}
	if err != nil {
		return ActivityPage{}, err
	}
	page := callwright.Fit(items, limit, MaxRead, Entry.Size, Entry.Keyset)
	return ActivityPage{Items: page.Items, Next: s.sealFeed(org, id, page.Next)}, nil
}

// Fold returns the entries of a page in groups. Consecutive attachments of one resource each, of one kind and by one actor, form a
// group; any other entry is a group by itself.
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

// foldsWith reports whether two entries attach one resource each, of one kind and by one actor.
func (e Entry) foldsWith(other Entry) bool {
	one := func(e Entry) bool { return e.Type == TypeResourceAdded && len(e.Resources) == 1 && e.Detail == "" }
	return one(e) && one(other) && e.Actor == other.Actor && e.Resources[0].Type == other.Resources[0].Type
}

// sealFeed returns a place in an issue's feed as a cursor, for pages and for watchers.
func (s *Service) sealFeed(org callwright.OrgID, id string, k callwright.Keyset) string {
	if k.IsZero() {
		return ""
	}
	return s.cfg.Cursors.seal(org, feedOf(id), Place{Value: k.At.UnixMicro(), ID: k.ID})
}

// openFeed reads a cursor of sealFeed.
func (s *Service) openFeed(org callwright.OrgID, id, cursor string) (callwright.Keyset, error) {
	p, err := s.cfg.Cursors.open(org, feedOf(id), cursor)
	if err != nil || p == (Place{}) {
		return callwright.Keyset{}, err
	}
	return callwright.Keyset{At: time.UnixMicro(p.Value).UTC(), ID: p.ID}, nil
}

// feedOf names an issue's feed, for its cursors.
func feedOf(id string) string { return "feed " + id }
