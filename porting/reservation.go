package porting

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
)

// Reservation reserves a ported number for its organization: no other organization may attach or port the number until an operator
// releases it.
type Reservation struct {
	Number  callwright.PhoneNumber
	Org     callwright.OrgID
	Request string // id of the request that ported the number
	Since   time.Time
}

// Reservations stores reservations, and takes part in the transactions of a Store. A number has at most one reservation.
type Reservations interface {
	// Reserve stores a reservation, replacing the organization's earlier reservation of the number. It returns CodeConflict if another
	// organization has reserved the number; of concurrent organizations exactly one succeeds. A call that fails changes nothing, even if
	// its transaction continues. After the commit, the statements of all other transactions see the reservation.
	Reserve(ctx context.Context, r Reservation) error
	// Reserved returns the reservations of the given numbers, of any organization, in any order.
	Reserved(ctx context.Context, numbers []callwright.PhoneNumber) ([]Reservation, error)
	// Unreserve deletes an organization's reservation of a number. It returns CodeNotFound if the organization has not reserved it; of
	// concurrent calls exactly one succeeds.
	Unreserve(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error
}

// Reserved reports reserved numbers to other packages. It implements sip.Reservations.
type Reserved struct{ Reservations Reservations }

// ReservedElsewhere returns the given numbers that another organization has reserved.
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

// reserve reserves the numbers of a request that have newly become ported; the parameter before contains the same numbers with their
// earlier states. If another organization has reserved a number, reserve marks it as foreign, and the operator must act.
func (s *Service) reserve(ctx context.Context, r *Request, before []Number) error {
	for i := range r.Numbers {
		n := &r.Numbers[i]
		if n.State != NumberPorted || before[i].State == NumberPorted {
			continue
		}
		err := s.cfg.Store.Reserve(ctx, Reservation{Number: n.Number, Org: r.Org, Request: r.ID, Since: s.cfg.Clock.Now()})
		switch {
		case errors.Is(err, callwright.ErrConflict):
			n.markForeign()
		case err != nil:
			return err
		}
	}
	return nil
}

// markForeign records that a ported number belongs to another organization of this deployment.
func (n *Number) markForeign() {
	n.Inbound, n.Failure = RegistrationTaken, &Failure{Code: RegistrationConflict}
}

// releasedArgs contains the arguments of the task that logs an operator's release.
type releasedArgs struct {
	Number   callwright.PhoneNumber `json:"number"`
	Reserved bool                   `json:"reserved"`
	Note     string                 `json:"note"`
}

// Release lets the operator free a number of an organization, so that another organization may attach or port it. It reports whether the
// organization had reserved the number. If so, Release deletes the reservation, and the request that ported the number no longer attaches a
// trunk to it. The server logs the release with its note. Release returns CodeBadRequest if note is blank, longer than MaxRaw bytes, or
// contains hidden characters.
func (s *Service) Release(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, note string) (reserved bool, err error) {
	if err := checkNote(note); err != nil {
		return false, err
	}
	err = callwright.Retry(ctx, func(ctx context.Context) error {
		return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
			if reserved, err = s.unreserve(ctx, org, number); err != nil {
				return err
			}
			t := callwright.Task{Key: string(number), Org: org}
			return callwright.TaskKind[releasedArgs](taskReleased).Enqueue(ctx, s.cfg.Work, t, releasedArgs{number, reserved, note})
		})
	})
	return reserved, err
}

// unreserve deletes an organization's reservation of a number, if any, and marks the number as Released in the request that ported it.
func (s *Service) unreserve(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (reserved bool, err error) {
	all, err := s.cfg.Store.Reserved(ctx, []callwright.PhoneNumber{number})
	if err != nil || len(all) == 0 || all[0].Org != org {
		return false, err
	}
	if err := s.cfg.Store.Unreserve(ctx, org, number); err != nil {
		return false, err
	}
	r, err := s.cfg.Store.Request(ctx, org, all[0].Request)
	if errors.Is(err, callwright.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	for i := range r.Numbers {
		if n := &r.Numbers[i]; n.Number == number && n.State == NumberPorted {
			n.Inbound, n.Failure = Released, nil
		}
	}
	return true, s.store(ctx, &r, nil)
}

// logRelease handles the task taskReleased. It logs an operator's release in the server, because the operator may use another program.
func (s *Service) logRelease(ctx context.Context, t callwright.Task, a releasedArgs, _ int) error {
	s.cfg.Logger.InfoContext(ctx, "an operator has released a number", "phone_number", a.Number, "org", t.Org, "reserved", a.Reserved, "note", a.Note)
	return nil
}
