package manual

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// MaxPage is the maximum number of orders in a page.
const MaxPage = 100

// Order returns an order. It returns CodeNotFound if the order is absent.
func (g *Gateway) Order(ctx context.Context, ref string) (Order, error) {
	return g.cfg.Store.Order(ctx, ref)
}

// Orders returns a page of orders, oldest first. If open is set, it returns only orders with a number that has not ended. A limit outside
// the range from 1 to MaxPage means MaxPage.
func (g *Gateway) Orders(ctx context.Context, open bool, after callwright.Keyset, limit int) (callwright.Page[Order], error) {
	if limit < 1 || limit > MaxPage {
		limit = MaxPage
	}
	found, err := g.cfg.Store.Orders(ctx, open, after, limit+1) // one more order shows whether a next page exists
	if err != nil {
		return callwright.Page[Order]{}, err
	}
	page := callwright.Page[Order]{Items: found}
	if len(found) > limit {
		page.Items = found[:limit]
		page.Next = page.Items[limit-1].place()
	}
	return page, nil
}

// place returns the keyset of an order for pagination.
func (o Order) place() callwright.Keyset { return callwright.Keyset{At: o.CreatedAt, ID: o.Ref} }

// Ended reports whether every number of the order has ended.
func (o Order) Ended() bool {
	return !slices.ContainsFunc(o.Numbers, func(n porting.NumberSnapshot) bool { return !n.State.Ended() })
}

// Move is progress of numbers that the carrier has reported to the operator.
type Move struct {
	Numbers []callwright.PhoneNumber // if empty, all that have not ended and that the move changes
	// State is in_progress, foc_confirmed, ported, rejected or canceled. If it is empty, Failure delays the numbers: they keep
	// their states, except that submitted numbers become in_progress.
	State    porting.NumberState
	FOC      time.Time        // date that the carrier has confirmed; required for foc_confirmed, refused otherwise
	PortedAt time.Time        // only for ported; zero means now
	Failure  *porting.Failure // required for rejected or an empty State; with in_progress or foc_confirmed it delays the numbers
}

// Move records the progress of an order's numbers, and returns the changed order. If the move is invalid for one number, no number changes.
// After the last number has ended, the stored PINs are erased. Call porting.Hasten after Move, so that the request is updated soon.
//
// Move returns CodeBadRequest if a field is invalid, CodeInvalidState if the move of a number is illegal or changes nothing, and
// CodeNotFound if the order is absent.
func (g *Gateway) Move(ctx context.Context, ref string, m Move) (Order, error) {
	now := g.cfg.Clock.Now().UTC().Truncate(time.Microsecond)
	if err := m.check(now); err != nil {
		return Order{}, err
	}
	m.FOC, m.PortedAt = m.FOC.UTC().Truncate(time.Microsecond), m.PortedAt.UTC().Truncate(time.Microsecond)
	if m.State == porting.NumberPorted && m.PortedAt.IsZero() {
		m.PortedAt = now
	}
	o, err := g.change(ctx, ref, func(o *Order) error { return o.move(m) })
	if err == nil {
		g.cfg.Logger.InfoContext(ctx, "the operator has moved numbers of a port order", "ref", ref, "state", m.State, "revision", o.Revision)
	}
	return o, err
}

// operatorStates are the states that an operator may enter.
var operatorStates = []porting.NumberState{
	porting.NumberInProgress, porting.NumberConfirmed, porting.NumberPorted, porting.NumberRejected, porting.NumberCanceled,
}

// check returns CodeBadRequest if a move is invalid regardless of the order.
func (m Move) check(now time.Time) error {
	f := m.Failure
	switch {
	case m.State != "" && !slices.Contains(operatorStates, m.State):
		return callwright.Invalid("state", "must be one of %v", operatorStates)
	case m.State == porting.NumberConfirmed && m.FOC.IsZero():
		return callwright.Invalid("foc", "is required: the time at which the losing carrier releases the numbers")
	case m.State != porting.NumberConfirmed && !m.FOC.IsZero():
		return callwright.Invalid("foc", "must be set only for numbers that are %s", porting.NumberConfirmed)
	case m.State != porting.NumberPorted && !m.PortedAt.IsZero():
		return callwright.Invalid("ported_at", "must be set only for numbers that are %s", porting.NumberPorted)
	case m.PortedAt.After(now):
		return callwright.Invalid("ported_at", "must not be in the future")
	case f == nil && (m.State == "" || m.State == porting.NumberRejected):
		return callwright.Invalid("failure", "is required: say why the numbers are rejected or held up")
	case f != nil && (m.State == porting.NumberPorted || m.State == porting.NumberCanceled):
		return callwright.Invalid("failure", "must not be set for numbers that are %s", m.State)
	case f != nil && f.Code.Remedy().Code != f.Code:
		return callwright.Invalid("failure.code", "must be a code of package porting, such as %s, not %q", porting.PINInvalid, f.Code)
	case f != nil && len(f.Raw) > porting.MaxRaw:
		return callwright.Invalid("failure.raw", "must have at most %d bytes", porting.MaxRaw)
	}
	return nil
}

// move applies m to the chosen numbers. If it returns an error, the order must not be stored.
func (o *Order) move(m Move) error {
	if !m.FOC.IsZero() && m.FOC.Before(o.CreatedAt) {
		return callwright.Invalid("foc", "must not be before %s, when the order was made", o.CreatedAt.Format(time.RFC3339))
	}
	chosen, err := o.choose(m.Numbers)
	if err != nil {
		return err
	}
	var same error // returned only if no number changes
	changes := false
	for _, i := range chosen {
		next := m.of(o.Numbers[i])
		switch err := next.follows(o.Numbers[i]); {
		case errors.Is(err, errSame) && len(m.Numbers) == 0:
			same = err
		case err != nil:
			return err
		default:
			o.Numbers[i], changes = porting.NumberSnapshot(next), true
		}
	}
	if !changes {
		return same
	}
	if o.Ended() {
		o.Submission.PINs = nil
	}
	return nil
}

// choose returns the indices of the given numbers, or of all numbers that have not ended if numbers is empty. It returns an error if a
// number is not in the order, or no index is left.
func (o *Order) choose(numbers []callwright.PhoneNumber) (chosen []int, err error) {
	for i, n := range o.Numbers {
		if len(numbers) == 0 && !n.State.Ended() || slices.Contains(numbers, n.Number) {
			chosen = append(chosen, i)
		}
	}
	for i, number := range numbers {
		if !slices.ContainsFunc(o.Numbers, func(n porting.NumberSnapshot) bool { return n.Number == number }) {
			return nil, callwright.Invalid(fmt.Sprintf("numbers[%d]", i), "%s is not a number of the order %s", number, o.Ref)
		}
	}
	if len(chosen) == 0 {
		return nil, callwright.Errorf(callwright.CodeInvalidState, "every number of the order %s has ended", o.Ref)
	}
	return chosen, nil
}

// moved is the state of a number after a Move.
type moved porting.NumberSnapshot

// of returns the state of n after the move.
func (m Move) of(n porting.NumberSnapshot) moved {
	to := m.State
	switch {
	case to == "" && n.State == porting.NumberSubmitted:
		to = porting.NumberInProgress
	case to == "":
		to = n.State
	}
	next := moved{Number: n.Number, State: to, FOC: m.FOC, PortedAt: m.PortedAt}
	if m.Failure != nil {
		f := *m.Failure
		next.Failure = &f
	}
	if m.State == "" || to == porting.NumberPorted {
		next.FOC = n.FOC
	}
	return next
}

// errSame is wrapped by the error for a move that changes nothing.
var errSame = errors.New("nothing changes")

// follows returns CodeInvalidState if the snapshot n cannot follow the earlier snapshot, was. A number that has not ended may stay in its
// state if its date or its failure changes. If neither changes, the error wraps errSame.
func (n moved) follows(was porting.NumberSnapshot) error {
	switch {
	case was.State.CanBecome(n.State):
		return nil
	case was.State != n.State || was.State.Ended():
		return callwright.Errorf(callwright.CodeInvalidState, "%s is %s and cannot become %s", n.Number, was.State, n.State)
	case n.FOC.Equal(was.FOC) && sameFailure(n.Failure, was.Failure):
		return callwright.Errorf(callwright.CodeInvalidState, "%s is %s already", n.Number, n.State).Because(errSame)
	}
	return nil
}

func sameFailure(a, b *porting.Failure) bool { return a == b || a != nil && b != nil && *a == *b }

// RefuseCancel records that the carrier refuses the customer's request to cancel, and continues the order. A repeated call changes nothing.
// Call porting.Hasten after RefuseCancel, so that the request is updated soon. RefuseCancel returns CodeInvalidState if the customer does
// not want to cancel or the order has ended, and CodeNotFound if the order is absent.
func (g *Gateway) RefuseCancel(ctx context.Context, ref string) (Order, error) {
	return g.change(ctx, ref, func(o *Order) error {
		switch {
		case o.Ended():
			return callwright.Errorf(callwright.CodeInvalidState, "every number of the order %s has ended", ref)
		case o.CancelAskedAt.IsZero():
			return callwright.Errorf(callwright.CodeInvalidState, "the customer has not asked to cancel the order %s", ref)
		case o.CancelRefused:
			return errUnchanged
		}
		o.CancelRefused = true
		return nil
	})
}
