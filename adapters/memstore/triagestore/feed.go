package triagestore

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/triage"
)

// entryPlace records the issue and the keyset of an entry. If the transaction that added the entry failed, the feed does not contain the
// entry.
type entryPlace struct {
	issue string
	at    callwright.Keyset
}

func comparePlaces(a, b callwright.Keyset) int {
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
}

// after returns the index of the first entry of a feed that follows the given keyset, or len(feed) if no entry does.
func after(feed []triage.Entry, at callwright.Keyset) int {
	return sort.Search(len(feed), func(i int) bool { return comparePlaces(feed[i].Keyset(), at) > 0 })
}

// hasEntry reports whether any feed contains an entry.
func (d *data) hasEntry(id string) bool {
	place, ok := d.entryPlaces[id]
	if !ok {
		return false
	}
	feed := d.feeds.Rows()[place.issue]
	n := after(feed, place.at)
	return n > 0 && feed[n-1].ID == id
}

// AppendEntries adds entries to the feed of one issue, all or none. It returns CodeNotFound if the organization has no such issue, and
// CodeConflict if an entry's ID exists or occurs twice.
func (s Store) AppendEntries(
	ctx context.Context, org callwright.OrgID, issue string, entries []triage.Entry,
) error {
	return with(ctx, s.Store, func(d *data) error {
		if err := d.issues.Exists(org, issue); err != nil {
			return err
		}
		taken := map[string]bool{}
		for _, e := range entries {
			if taken[e.ID] || d.hasEntry(e.ID) {
				return callwright.ErrConflict
			}
			taken[e.ID] = true
		}
		for _, e := range entries {
			e.Org, e.IssueID = org, issue
			d.feeds.Set(issue, insertEntry(d.feeds.Rows()[issue], memory.Clone(e)))
			d.entryPlaces[e.ID] = entryPlace{issue, e.Keyset()}
		}
		return nil
	})
}

// insertEntry returns a feed with e inserted at its keyset. It does not change the elements of feed, because a failed transaction restores
// feed. It may write to the memory behind the last element of feed.
func insertEntry(feed []triage.Entry, e triage.Entry) []triage.Entry {
	n := after(feed, e.Keyset())
	if n == len(feed) {
		return append(feed, e)
	}
	return slices.Concat(feed[:n], []triage.Entry{e}, feed[n:])
}

// feed returns the entries of an issue's feed, oldest first. It returns no entries if the organization has no such issue.
func (d *data) feed(org callwright.OrgID, issue string) []triage.Entry {
	if d.issues.Exists(org, issue) != nil {
		return nil
	}
	return d.feeds.Rows()[issue]
}

// Entries returns up to limit entries of an issue's feed before a keyset, newest first. A zero keyset starts with the newest entry.
func (s Store) Entries(
	ctx context.Context, org callwright.OrgID, issue string, before callwright.Keyset, limit int,
) (found []triage.Entry, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		feed := d.feed(org, issue)
		if !before.IsZero() {
			feed = feed[:sort.Search(len(feed), func(i int) bool { return comparePlaces(feed[i].Keyset(), before) >= 0 })]
		}
		found = memory.Clone(feed[max(0, len(feed)-limit):])
		return nil
	})
	slices.Reverse(found)
	return found, err
}

// EntriesAfter returns up to limit entries of an issue's feed after a keyset, oldest first.
func (s Store) EntriesAfter(
	ctx context.Context, org callwright.OrgID, issue string, place callwright.Keyset, limit int,
) (found []triage.Entry, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		feed := d.feed(org, issue)
		feed = feed[after(feed, place):]
		found = memory.Clone(feed[:min(limit, len(feed))])
		return nil
	})
	return found, err
}

// InsertComment adds a comment. It returns CodeNotFound if the organization has no such issue, and CodeConflict if the comment's ID is
// already stored.
func (s Store) InsertComment(ctx context.Context, c triage.Comment) error {
	return with(ctx, s.Store, func(d *data) error { return insertPart(d, d.comments, c.Org, c.IssueID, c) })
}

// Comment returns a comment, even a deleted one. It returns CodeNotFound if the issue has no such comment.
func (s Store) Comment(ctx context.Context, org callwright.OrgID, issue, id string) (triage.Comment, error) {
	return read(ctx, s.Store, func(d *data) (triage.Comment, error) {
		return findPart(d.comments, org, issue, id, func(c triage.Comment) string { return c.IssueID })
	})
}

// RevisedComments returns the given comments of an issue that were edited or deleted. It truncates each Detail to the given number of
// characters.
func (s Store) RevisedComments(
	ctx context.Context, org callwright.OrgID, issue string, ids []string, most int,
) (found []triage.Comment, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, id := range ids {
			c, ok := d.comments.Rows()[id]
			if !ok || c.Org != org || c.IssueID != issue || c.Revision == 1 {
				continue
			}
			if detail := []rune(c.Detail); len(detail) > most {
				c.Detail = string(detail[:most])
			}
			found = append(found, c)
		}
		return nil
	})
	return found, err
}

// UpdateComment replaces a comment, except its issue, author and creation time. It returns CodeConflict if the stored revision differs, and
// CodeNotFound if the comment is absent.
func (s Store) UpdateComment(ctx context.Context, c triage.Comment) error {
	return with(ctx, s.Store, func(d *data) error {
		stored := d.comments.Rows()[c.ID]
		c.IssueID, c.Author, c.CreatedAt = stored.IssueID, stored.Author, stored.CreatedAt
		return d.comments.Replace(c)
	})
}
