package porting

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// CancelPhase is the progress of a cancellation.
type CancelPhase string

// The phases of a cancellation.
const (
	CancelDone CancelPhase = "done" // the request is canceled
	CancelSoon CancelPhase = "soon" // the carrier is asked to cancel: it agrees, refuses, or ports the numbers first
)

// PlanCancel returns the phase that a cancellation at the given time leads to. It returns CancelDone if the request is already canceled or
// no carrier can hold its order, and CancelSoon if the carrier must be asked or was asked before.
//
// It returns CodeInvalidState if the request is completed or failed, or one of its numbers is ported. It also does so if the confirmed date
// is less than cutOff ahead, unless the carrier was asked before.
func PlanCancel(r Request, cutOff time.Duration, now time.Time) (CancelPhase, error) {
	switch {
	case r.State == Canceled, r.State == WaitingForSignature, r.State == Submitted && !r.Sending:
		return CancelDone, nil
	case r.State.Ended():
		return "", callwright.Errorf(callwright.CodeInvalidState,
			"the port request is %s and cannot be canceled", r.State)
	case slices.ContainsFunc(r.Numbers, func(n Number) bool { return n.State == NumberPorted }):
		return "", callwright.Errorf(callwright.CodeInvalidState,
			"some of the numbers are ported, so the port request cannot be canceled: wait for the others")
	case !r.CancelAskedAt.IsZero():
		return CancelSoon, nil
	}
	if foc := r.FOC(); !foc.IsZero() && now.Add(cutOff).After(foc) {
		return "", callwright.Errorf(callwright.CodeInvalidState,
			"the numbers are ported on %s, and a port can be canceled until %d hours before: ask the losing carrier to stop it",
			foc.UTC().Format(time.RFC3339), int(cutOff.Hours()))
	}
	return CancelSoon, nil
}

// Cancel cancels a request, immediately or in two phases: see PlanCancel. After CancelDone the returned request is Canceled; after
// CancelSoon its CancelAskedAt is set. Canceling again changes nothing, unless the carrier has refused in the meantime. Cancel returns
// CodeInvalidState if the request can no longer be canceled, and CodeNotFound if the organization has no such request.
func (s *Service) Cancel(ctx context.Context, org callwright.OrgID, id string) (Request, error) {
	return s.cancel(ctx, org, id, API, "")
}

// CanCancel reports whether Cancel would change a request now: the request can still be canceled, and no earlier cancellation waits for the
// carrier.
func (s *Service) CanCancel(r Request) bool {
	_, err := PlanCancel(r, s.cutOff(r), s.cfg.Clock.Now())
	return err == nil && r.State != Canceled && r.CancelAskedAt.IsZero()
}

// Withdraw cancels a request on behalf of the operator, for example when it names another person's number. It behaves like Cancel, but the
// history names the operator and contains note. It returns CodeBadRequest if note is blank, is longer than MaxRaw bytes, or contains
// control or format characters. Other errors are the same as for Cancel.
func (s *Service) Withdraw(ctx context.Context, org callwright.OrgID, id, note string) (Request, error) {
	if err := checkNote(note); err != nil {
		return Request{}, err
	}
	return s.cancel(ctx, org, id, Operator, note)
}

// checkNote returns an error if an operator's note is blank, longer than MaxRaw bytes, or contains hidden characters.
func checkNote(note string) error {
	var f faults
	f.addIf(strings.TrimSpace(note) == "", "note", "is required")
	f.addIf(len(note) > MaxRaw, "note", "must have at most %d bytes", MaxRaw)
	f.addIf(strings.ContainsFunc(note, callwright.Hidden), "note", "must be one line without control characters or invisible characters")
	return f.err()
}

// cancel implements Cancel and Withdraw. The parameter by is the actor in the history.
func (s *Service) cancel(ctx context.Context, org callwright.OrgID, id string, by Actor, note string) (Request, error) {
	return s.change(ctx, org, id, func(ctx context.Context, r *Request) ([]Entry, error) {
		now := s.cfg.Clock.Now()
		phase, err := PlanCancel(*r, s.cutOff(*r), now)
		switch {
		case err != nil:
			return nil, err
		case r.State == Canceled, !r.CancelAskedAt.IsZero():
			return nil, errUnchanged
		case phase == CancelSoon:
			r.CancelAskedAt, r.CancelAskedBy, r.CancelSent, r.DueAt = now, by, false, now
			e, err := r.move(CancelAsked, by, now, note)
			return []Entry{e}, errors.Join(err, s.wake(ctx, *r))
		}
		event := Withdrawn
		if r.State == WaitingForSignature {
			event = CancelAsked
		}
		r.setNumbers(NumberCanceled, nil)
		e, err := r.move(event, by, now, note)
		return []Entry{e}, errors.Join(err, s.cfg.Letters.RevokeLetter(ctx, org, id))
	})
}

// cutOff returns the minimum time from the cancellation of a request to its confirmed date. It returns two days if the request's gateway is
// no longer configured.
func (s *Service) cutOff(r Request) time.Duration {
	if g := s.gateway(r.Gateway); g != nil {
		return g.Capabilities().CutOff
	}
	return 2 * systemDay
}
