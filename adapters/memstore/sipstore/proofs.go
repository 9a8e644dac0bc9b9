package sipstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/sip/proof"
)

// Proofs is a proof.Store.
type Proofs struct{ Store *memstore.Store }

// Insert adds a proof, unless its number or its organization has had too many.
func (s Proofs) Insert(
	ctx context.Context, p proof.Proof, limits proof.Limits, since time.Time,
) (added bool, oldest time.Time, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		if _, taken := d.proofs[p.ID]; taken {
			return callwright.ErrConflict
		}
		ofNumber := d.atLimit(limits.Number, since, func(other proof.Proof) bool { return other.Number == p.Number })
		ofOrg := d.atLimit(limits.Org, since, func(other proof.Proof) bool { return other.Org == p.Org })
		if oldest = ofNumber; ofOrg.After(oldest) {
			oldest = ofOrg
		}
		if !oldest.IsZero() {
			return nil
		}
		p.Version = 1
		d.proofs[p.ID] = memory.Clone(p)
		added = true
		return nil
	})
	return added, oldest, err
}

// atLimit returns the creation of the oldest of the limit newest proofs after since that count; zero: there are fewer.
func (d *data) atLimit(limit int, since time.Time, counts func(proof.Proof) bool) (oldest time.Time) {
	var created []time.Time
	for _, p := range d.proofs {
		if counts(p) && p.CreatedAt.After(since) {
			created = append(created, p.CreatedAt)
		}
	}
	if len(created) >= limit {
		slices.SortFunc(created, time.Time.Compare)
		oldest = created[len(created)-limit]
	}
	return oldest
}

// Update replaces a proof.
func (s Proofs) Update(ctx context.Context, p proof.Proof) error {
	return with(ctx, s.Store, func(d *data) error {
		stored, found := d.proofs[p.ID]
		switch {
		case !found || stored.Org != p.Org:
			return callwright.NotFound("proof")
		case stored.Version != p.Version:
			return callwright.ErrConflict
		}
		p.Version++
		d.proofs[p.ID] = memory.Clone(p)
		return nil
	})
}

// Latest returns the newest proof of a number.
func (s Proofs) Latest(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (latest proof.Proof, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, p := range d.proofs {
			if p.Org == org && p.Number == number &&
				(latest.ID == "" || cmp.Or(p.CreatedAt.Compare(latest.CreatedAt), cmp.Compare(p.ID, latest.ID)) > 0) {
				latest = memory.Clone(p)
			}
		}
		if latest.ID == "" {
			return callwright.NotFound("proof")
		}
		return nil
	})
	return latest, err
}

// DeleteOld deletes old proofs.
func (s Proofs) DeleteOld(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for id, p := range d.proofs {
			if removed < limit && p.CreatedAt.Before(before) {
				delete(d.proofs, id)
				removed++
			}
		}
		return nil
	})
	return removed, err
}
