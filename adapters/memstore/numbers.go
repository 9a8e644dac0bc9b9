package memstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
)

type numberKey struct {
	org    callwright.OrgID
	number callwright.PhoneNumber
}

// Numbers is agents.Store.
type Numbers struct{ *Store }

// InsertNumber adds a number.
func (s Numbers) InsertNumber(ctx context.Context, n agents.InboundNumber) error {
	return s.with(ctx, func(d *data) error {
		key := numberKey{n.Org, n.Number}
		if _, taken := d.numbers[key]; taken {
			return callwright.ErrConflict
		}
		n.Version = 1
		d.numbers[key] = clone(n)
		return nil
	})
}

// Number is one number.
func (s Numbers) Number(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber,
) (n agents.InboundNumber, err error) {
	err = s.with(ctx, func(d *data) error {
		found, ok := d.numbers[numberKey{org, number}]
		if !ok {
			return callwright.NotFound("inbound number")
		}
		n = clone(found)
		return nil
	})
	return n, err
}

// Numbers is all numbers of an organization.
func (s Numbers) Numbers(ctx context.Context, org callwright.OrgID) (found []agents.InboundNumber, err error) {
	err = s.with(ctx, func(d *data) error {
		for key, n := range d.numbers {
			if key.org == org {
				found = append(found, clone(n))
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b agents.InboundNumber) int { return cmp.Compare(a.Number, b.Number) })
	return found, err
}

// UpdateNumber replaces a number.
func (s Numbers) UpdateNumber(ctx context.Context, n agents.InboundNumber) error {
	return s.with(ctx, func(d *data) error {
		key := numberKey{n.Org, n.Number}
		stored, ok := d.numbers[key]
		switch {
		case !ok:
			return callwright.NotFound("inbound number")
		case stored.Version != n.Version:
			return callwright.ErrConflict
		}
		n.Version++
		d.numbers[key] = clone(n)
		return nil
	})
}
