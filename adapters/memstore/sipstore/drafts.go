package sipstore

import (
	"cmp"
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/sip/setup"
)

// Drafts implements setup.Store in memory.
type Drafts struct{ Store *memstore.Store }

// InsertDraft adds a draft. It returns CodeInvalidState if the organization already has the maximum number of drafts (the parameter most)
// that were changed at or after the given time, and CodeConflict if the ID is already stored.
func (s Drafts) InsertDraft(ctx context.Context, n setup.Draft, most int, since time.Time) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, taken := d.drafts.Rows()[n.ID]; !taken && len(d.draftsOf(n.Org, since, most)) >= most {
			return callwright.Errorf(callwright.CodeInvalidState, "at most %d set-ups can be open: finish or discard one", most)
		}
		return d.drafts.Insert(n)
	})
}

// draftsOf returns up to limit drafts of an organization that were changed at or after the given time, the last changed first.
func (d *data) draftsOf(org callwright.OrgID, since time.Time, limit int) []setup.Draft {
	lastChanged := func(a, b setup.Draft) int { return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(b.ID, a.ID)) }
	return d.drafts.Select(limit, lastChanged, func(one setup.Draft) bool { return one.Org == org && !one.UpdatedAt.Before(since) })
}

// UpdateDraft replaces a draft. It returns CodeConflict if the stored version differs, and CodeNotFound if the draft is absent.
func (s Drafts) UpdateDraft(ctx context.Context, n setup.Draft) error {
	return with(ctx, s.Store, func(d *data) error { return d.drafts.Replace(n) })
}

// Draft returns a draft, or CodeNotFound if the organization has no such draft.
func (s Drafts) Draft(ctx context.Context, org callwright.OrgID, id string) (setup.Draft, error) {
	return read(ctx, s.Store, func(d *data) (setup.Draft, error) { return d.drafts.Find(org, id) })
}

// DraftsOf returns up to limit drafts of an organization that were changed at or after the given time, the last changed first.
func (s Drafts) DraftsOf(ctx context.Context, org callwright.OrgID, since time.Time, limit int) ([]setup.Draft, error) {
	return read(ctx, s.Store, func(d *data) ([]setup.Draft, error) { return d.draftsOf(org, since, limit), nil })
}

// DeleteDraft deletes a draft. It returns no error if the draft is absent.
func (s Drafts) DeleteDraft(ctx context.Context, org callwright.OrgID, id string) error {
	return with(ctx, s.Store, func(d *data) error { return d.drafts.Delete(org, id) })
}

// DeleteOldDrafts deletes up to limit drafts that were last changed before the given time. It returns the number of deleted drafts.
func (s Drafts) DeleteOldDrafts(ctx context.Context, before time.Time, limit int) (int, error) {
	return read(ctx, s.Store, func(d *data) (int, error) {
		return d.drafts.DeleteUpTo(limit, func(one setup.Draft) bool { return one.UpdatedAt.Before(before) })
	})
}
