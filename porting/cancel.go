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
	CancelSoon CancelPhase = "soon" // the carrier is asked, and agrees, refuses, or ports the numbers first
)

// PlanCancel returns the phase of a request that is canceled now: CancelDone when no carrier can hold its order, or it is already
// canceled; CancelSoon when the carrier is asked, or was asked before. CodeInvalidState: it cannot be canceled any more, because it
// has ended, a number is ported, or the confirmed date is less than cutOff ahead.
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

// Cancel cancels a request, immediately or in two phases: see PlanCancel. In the first case the returned request is Canceled; in
// the second, its CancelAskedAt is the time at which the carrier was asked. Canceling again changes nothing. CodeInvalidState: it
// cannot be canceled any more. CodeNotFound: it is absent.
func (s *Service) Cancel(ctx context.Context, org callwright.OrgID, id string) (Request, error) {
	return s.cancel(ctx, org, id, API, "")
}

// CanCancel reports whether Cancel changes a request now: it can be canceled, and was not before.
func (s *Service) CanCancel(r Request) bool {
	_, err := PlanCancel(r, s.cutOff(r), s.cfg.Clock.Now())
	return err == nil && r.State != Canceled && r.CancelAskedAt.IsZero()
}

// Withdraw cancels a request for the operator, for example when it names another person's number. It works as Cancel, but the
// history names the operator and contains note. CodeBadRequest: note is blank, or longer than MaxRaw bytes. Other errors are as of
// Cancel.
func (s *Service) Withdraw(ctx context.Context, org callwright.OrgID, id, note string) (Request, error) {
	if err := checkNote(note); err != nil {
		return Request{}, err
	}
	return s.cancel(ctx, org, id, Operator, note)
}

// checkNote checks the note of an operator.
func checkNote(note string) error {
	var f faults
	f.addIf(strings.TrimSpace(note) == "", "note", "is required")
	f.addIf(len(note) > MaxRaw, "note", "must have at most %d bytes", MaxRaw)
	f.addIf(strings.ContainsFunc(note, callwright.Hidden), "note", "must not have control or format characters")
	return f.err()
}

// cancel cancels a request for an organization or an operator.
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

// cutOff returns the time before its date from which a request cannot be canceled any more.
func (s *Service) cutOff(r Request) time.Duration {
	if g := s.gateway(r.Gateway); g != nil {
		return g.Capabilities().CutOff
	}
	return 2 * systemDay
}
