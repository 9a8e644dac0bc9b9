package sipstore

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/sip"
)

type trunkKey struct {
	number    callwright.PhoneNumber
	direction sip.Direction
}

// Trunks implements sip.Store in memory.
type Trunks struct{ Store *memstore.Store }

// Hold does nothing, because transactions do not overlap.
func (Trunks) Hold(context.Context, callwright.PhoneNumber) error { return nil }

// HoldNumbers returns how many numbers of an organization have a trunk. It needs no lock, because transactions do not overlap.
func (s Trunks) HoldNumbers(ctx context.Context, org callwright.OrgID) (count int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		numbers := map[callwright.PhoneNumber]bool{}
		for key, t := range d.trunks.Rows() {
			if t.Org == org {
				numbers[key.number] = true
			}
		}
		count = len(numbers)
		return nil
	})
	return count, err
}

// Insert adds a trunk. It returns CodeConflict if the ID, or the number and direction, is already stored, or if the number belongs to
// another organization.
func (s Trunks) Insert(ctx context.Context, t sip.Trunk) error {
	return with(ctx, s.Store, func(d *data) error {
		for key, other := range d.trunks.Rows() {
			if other.ID == t.ID || key.number == t.Number && (key.direction == t.Direction || other.Org != t.Org) {
				return callwright.ErrConflict
			}
		}
		return d.trunks.Insert(t)
	})
}

// Update replaces a trunk. It returns CodeConflict if the stored version differs, and CodeNotFound if the trunk is absent.
func (s Trunks) Update(ctx context.Context, t sip.Trunk) error {
	return with(ctx, s.Store, func(d *data) error {
		if err := d.checkTrunk(t); err != nil {
			return err
		}
		return d.trunks.Replace(t)
	})
}

// Delete deletes a trunk. It returns CodeConflict if the stored version differs, and CodeNotFound if the trunk is absent.
func (s Trunks) Delete(ctx context.Context, t sip.Trunk) error {
	return with(ctx, s.Store, func(d *data) error {
		if err := d.checkTrunk(t); err != nil {
			return err
		}
		return d.trunks.Delete(t.Org, trunkKey{t.Number, t.Direction})
	})
}

// checkTrunk returns CodeConflict if the stored version of a trunk differs, and CodeNotFound if the trunk is absent.
func (d *data) checkTrunk(t sip.Trunk) error {
	if d.trunks.Rows()[trunkKey{t.Number, t.Direction}].ID != t.ID {
		return callwright.NotFound("trunk")
	}
	return d.trunks.Check(t)
}

// Trunk returns the trunk with an id, or CodeNotFound if the organization has no such trunk.
func (s Trunks) Trunk(ctx context.Context, org callwright.OrgID, id string) (sip.Trunk, error) {
	found, err := s.pick(ctx, func(t sip.Trunk) bool { return t.Org == org && t.ID == id })
	if err != nil || len(found) == 0 {
		return sip.Trunk{}, cmp.Or(err, error(callwright.NotFound("trunk")))
	}
	return found[0], nil
}

// List returns the trunks of up to limit numbers of an organization, sorted by number. It starts behind the number in after.ID.
func (s Trunks) List(
	ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int,
) ([]sip.Trunk, error) {
	found, err := s.pick(ctx, func(t sip.Trunk) bool { return t.Org == org && t.Number.String() > after.ID })
	numbers := 0
	for i, t := range found {
		if i > 0 && found[i-1].Number == t.Number {
			continue
		}
		if numbers++; numbers > limit {
			return found[:i], err
		}
	}
	return found, err
}

// Trunks returns the trunks of an organization's number, sorted by direction.
func (s Trunks) Trunks(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber,
) ([]sip.Trunk, error) {
	return s.pick(ctx, func(t sip.Trunk) bool { return t.Org == org && t.Number == number })
}

// Outbound returns up to limit outbound trunks of an organization, sorted by number.
func (s Trunks) Outbound(ctx context.Context, org callwright.OrgID, limit int) ([]sip.Trunk, error) {
	found, err := s.pick(ctx, func(t sip.Trunk) bool { return t.Org == org && t.Direction == sip.Outbound })
	return found[:min(limit, len(found))], err
}

// Owner returns the trunk with the given number and direction in any organization, or CodeNotFound if there is none.
func (s Trunks) Owner(
	ctx context.Context, number callwright.PhoneNumber, direction sip.Direction,
) (sip.Trunk, error) {
	found, err := s.pick(ctx, func(t sip.Trunk) bool { return t.Number == number && t.Direction == direction })
	if err != nil || len(found) == 0 {
		return sip.Trunk{}, cmp.Or(err, error(callwright.NotFound("trunk")))
	}
	return found[0], nil
}

// Holders returns the organizations whose trunks use the given numbers. It omits numbers without a trunk.
func (s Trunks) Holders(
	ctx context.Context, numbers []callwright.PhoneNumber,
) (map[callwright.PhoneNumber]callwright.OrgID, error) {
	found, err := s.pick(ctx, func(t sip.Trunk) bool { return slices.Contains(numbers, t.Number) })
	holders := map[callwright.PhoneNumber]callwright.OrgID{}
	for _, t := range found {
		holders[t.Number] = t.Org
	}
	return holders, err
}

// Peers returns up to limit trunks of all organizations with an ID after the given one, sorted by ID. The trunks contain only the fields
// that describe their peers.
func (s Trunks) Peers(ctx context.Context, after string, limit int) ([]sip.Trunk, error) {
	found, err := s.pick(ctx, func(t sip.Trunk) bool { return t.ID > after })
	slices.SortFunc(found, func(a, b sip.Trunk) int { return cmp.Compare(a.ID, b.ID) })
	found = found[:min(limit, len(found))]
	for i, t := range found {
		o := sip.Options{AuthMode: t.Options.AuthMode, Port: t.Options.Port, AllowedIPs: t.Options.AllowedIPs}
		found[i] = sip.Trunk{ID: t.ID, Number: t.Number, Direction: t.Direction, Endpoint: t.Endpoint, Options: o, Failover: t.Failover}
	}
	return found, err
}

func (s Trunks) pick(ctx context.Context, wanted func(sip.Trunk) bool) ([]sip.Trunk, error) {
	return read(ctx, s.Store, func(d *data) ([]sip.Trunk, error) {
		byNumber := func(a, b sip.Trunk) int {
			return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Direction, b.Direction))
		}
		return d.trunks.Select(math.MaxInt, byNumber, wanted), nil
	})
}
