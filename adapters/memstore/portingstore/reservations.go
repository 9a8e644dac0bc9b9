package portingstore

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// Reserve stores a reservation. It returns CodeConflict if another organization has reserved the number.
func (s Requests) Reserve(ctx context.Context, r porting.Reservation) error {
	return with(ctx, s.Store, func(d *data) error {
		if other, taken := d.reserved.Rows()[r.Number]; taken && other.Org != r.Org {
			return callwright.ErrConflict
		}
		d.reserved.Set(r.Number, r)
		return nil
	})
}

// Reserved returns the reservations of the given numbers. It skips numbers that no organization has reserved.
func (s Requests) Reserved(ctx context.Context, numbers []callwright.PhoneNumber) (found []porting.Reservation, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, n := range numbers {
			if r, ok := d.reserved.Rows()[n]; ok {
				found = append(found, r)
			}
		}
		return nil
	})
	return found, err
}

// Unreserve deletes a reservation, or returns CodeNotFound if the organization has not reserved the number.
func (s Requests) Unreserve(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error {
	return with(ctx, s.Store, func(d *data) error {
		if r, ok := d.reserved.Rows()[number]; !ok || r.Org != org {
			return callwright.NotFound("reservation")
		}
		d.reserved.Delete(number)
		return nil
	})
}
