package sipstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/sip/proof"
)

// Proofs implements proof.Store in memory.
type Proofs struct{ Store *memstore.Store }

// Insert adds a proof, unless the limit of proofs since the given time is reached for the number or for the organization. In that case
// added is false, and oldest is the creation time of the oldest proof that counts toward the limit: see atLimit. Insert returns
// CodeConflict if the ID is already stored.
func (s Proofs) Insert(
	ctx context.Context, p proof.Proof, limits proof.Limits, since time.Time,
) (added bool, oldest time.Time, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		if _, taken := d.proofs.Rows()[p.ID]; taken {
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
		added = true
		return d.proofs.Insert(p)
	})
	return added, oldest, err
}

// atLimit examines the proofs that were created after the given time and for which the function counts returns true. If at least limit such
// proofs exist, atLimit returns the creation time of the oldest of the newest limit proofs: the limit allows another proof when that one no
// longer counts. Otherwise it returns the zero time.
func (d *data) atLimit(limit int, since time.Time, counts func(proof.Proof) bool) (oldest time.Time) {
	var created []time.Time
	for _, p := range d.proofs.Rows() {
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

// Update replaces a proof. It returns CodeConflict if the stored version differs, and CodeNotFound if the proof is absent.
func (s Proofs) Update(ctx context.Context, p proof.Proof) error {
	return with(ctx, s.Store, func(d *data) error { return d.proofs.Replace(p) })
}

// Latest returns the newest proof of an organization's number, or CodeNotFound if there is none.
func (s Proofs) Latest(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (proof.Proof, error) {
	return read(ctx, s.Store, func(d *data) (proof.Proof, error) {
		newest := func(a, b proof.Proof) int { return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID)) }
		return d.proofs.First(newest, func(p proof.Proof) bool { return p.Org == org && p.Number == number })
	})
}

// DeleteOld deletes up to limit proofs that were created before the given time. It returns the number of deleted proofs.
func (s Proofs) DeleteOld(ctx context.Context, before time.Time, limit int) (int, error) {
	return read(ctx, s.Store, func(d *data) (int, error) {
		return d.proofs.DeleteUpTo(limit, func(p proof.Proof) bool { return p.CreatedAt.Before(before) })
	})
}
