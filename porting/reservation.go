package porting

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
)

// Reservation keeps a ported number for the organization that has ported it: no other may attach or port the number until an operator
// releases it.
type Reservation struct {
	Number  callwright.PhoneNumber
	Org     callwright.OrgID
	Request string // has ported the number
	Since   time.Time
}

// Reservations stores reservations, in the transactions of a Store. A number has one at most.
type Reservations interface {
	// Reserve stores a reservation, in place of an earlier one that the organization has of the number. CodeConflict: another
	// organization has reserved it; of concurrent organizations exactly one succeeds. A call that fails changes nothing, also in a
	// transaction that goes on. Transactions that begin a statement after this one has been committed see the reservation.
	Reserve(ctx context.Context, r Reservation) error
	// Reserved returns the reservations of some numbers, of any organization, in any order.
	Reserved(ctx context.Context, numbers []callwright.PhoneNumber) ([]Reservation, error)
	// Unreserve removes the reservation that an organization has of a number. CodeNotFound: it has none; of concurrent calls exactly
	// one succeeds.
	Unreserve(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error
}

// Reserved tells other domains which numbers are reserved. It implements sip.Reservations.
type Reserved struct{ Reservations Reservations }

// ReservedElsewhere returns those of some numbers that are reserved by another organization.
func (r Reserved) ReservedElsewhere(
	ctx context.Context, org callwright.OrgID, numbers []callwright.PhoneNumber,
) (elsewhere []callwright.PhoneNumber, err error) {
	all, err := r.Reservations.Reserved(ctx, numbers)
	for _, one := range all {
		if one.Org != org {
			elsewhere = append(elsewhere, one.Number)
		}
	}
	return elsewhere, err
}

// reserve reserves the numbers of a request that are ported now and were not before. A number that another organization has reserved
// is left to it, and the operator must act.
func (s *Service) reserve(ctx context.Context, r *Request, before []Number) error {
	for i := range r.Numbers {
		n := &r.Numbers[i]
		if n.State != NumberPorted || before[i].State == NumberPorted {
			continue
		}
		err := s.cfg.Store.Reserve(ctx, Reservation{Number: n.Number, Org: r.Org, Request: r.ID, Since: s.cfg.Clock.Now()})
		switch {
		case errors.Is(err, callwright.ErrConflict):
			n.taken()
		case err != nil:
			return err
		}
	}
	return nil
}

// taken notes that a ported number belongs to another organization of this deployment.
func (n *Number) taken() {
	n.Inbound, n.Failure = RegistrationTaken, &Failure{Code: RegistrationConflict}
}

// Release takes a ported number from its organization for the operator, so that another one may attach or port it: the reservation ends,
// and no inbound trunk is attached to the number any more. CodeNotFound: the organization has not reserved the number.
func (s *Service) Release(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error {
	return callwright.Retry(ctx, func(ctx context.Context) error {
		return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
			request, err := s.reservedBy(ctx, org, number)
			if err != nil {
				return err
			}
			if err := s.cfg.Store.Unreserve(ctx, org, number); err != nil {
				return err
			}
			r, err := s.cfg.Store.Request(ctx, org, request)
			if errors.Is(err, callwright.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			for i := range r.Numbers {
				if n := &r.Numbers[i]; n.Number == number && n.State == NumberPorted {
					n.Inbound, n.Failure = Released, nil
				}
			}
			return s.save(ctx, &r, nil)
		})
	})
}

// reservedBy returns the request through which an organization has reserved a number.
func (s *Service) reservedBy(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (request string, err error) {
	all, err := s.cfg.Store.Reserved(ctx, []callwright.PhoneNumber{number})
	if err != nil {
		return "", err
	}
	if len(all) == 0 || all[0].Org != org {
		return "", callwright.NotFound("reservation")
	}
	return all[0].Request, nil
}
