package porting

import (
	"slices"
	"time"

	"github.com/callwright/callwright"
)

// CancelPhase says how far a cancellation is.
type CancelPhase string

// The phases of a cancellation.
const (
	CancelDone CancelPhase = "done" // the request is canceled
	CancelSoon CancelPhase = "soon" // the carrier is asked: it agrees, refuses, or ports the numbers first
)

// PlanCancel returns how a request that is canceled now goes on: CancelDone when no carrier can have it, or it is canceled already;
// CancelSoon when the carrier is asked, or was asked before. CodeInvalidState: it cannot be canceled any more, because it has ended,
// a number is ported, or the confirmed date is less than cutOff ahead.
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
