package sipstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/sip/setup"
)

// Drafts is a setup.Store.
type Drafts struct{ Store *memstore.Store }

// InsertDraft adds a draft, unless the organization has too many.
func (s Drafts) InsertDraft(ctx context.Context, n setup.Draft, most int, since time.Time) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, taken := d.drafts[n.ID]; taken {
			return callwright.ErrConflict
		}
		if len(d.draftsOf(n.Org, since)) >= most {
			return callwright.Errorf(callwright.CodeInvalidState, "at most %d set-ups can be under way", most)
		}
		n.Version = 1
		d.drafts[n.ID] = n
		return nil
	})
}

// draftsOf returns the drafts of an organization, the last changed first.
func (d *data) draftsOf(org callwright.OrgID, since time.Time) (found []setup.Draft) {
	for _, one := range d.drafts {
		if one.Org == org && !one.UpdatedAt.Before(since) {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b setup.Draft) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(b.ID, a.ID))
	})
	return found
}

// UpdateDraft replaces a draft.
func (s Drafts) UpdateDraft(ctx context.Context, n setup.Draft) error {
	return with(ctx, s.Store, func(d *data) error {
		stored, found := d.drafts[n.ID]
		switch {
		case !found || stored.Org != n.Org:
			return callwright.NotFound("set-up")
		case stored.Version != n.Version:
			return callwright.ErrConflict
		}
		n.Version++
		d.drafts[n.ID] = n
		return nil
	})
}

// Draft returns one draft.
func (s Drafts) Draft(ctx context.Context, org callwright.OrgID, id string) (found setup.Draft, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		stored, ok := d.drafts[id]
		if !ok || stored.Org != org {
			return callwright.NotFound("set-up")
		}
		found = stored
		return nil
	})
	return found, err
}

// DraftsOf returns the drafts of an organization.
func (s Drafts) DraftsOf(ctx context.Context, org callwright.OrgID, since time.Time, limit int) (found []setup.Draft, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found = d.draftsOf(org, since)
		found = found[:min(limit, len(found))]
		return nil
	})
	return found, err
}

// DeleteDraft deletes a draft.
func (s Drafts) DeleteDraft(ctx context.Context, org callwright.OrgID, id string) error {
	return with(ctx, s.Store, func(d *data) error {
		if d.drafts[id].Org == org {
			delete(d.drafts, id)
		}
		return nil
	})
}

// DeleteOldDrafts deletes old drafts.
func (s Drafts) DeleteOldDrafts(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for id, one := range d.drafts {
			if removed < limit && one.UpdatedAt.Before(before) {
				delete(d.drafts, id)
				removed++
			}
		}
		return nil
	})
	return removed, err
}
