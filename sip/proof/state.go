package proof

import (
	"fmt"
	"time"

	"github.com/callwright/callwright"
)

// State is the state of a proof. Proof.At returns the state at a given time.
type State string

// The states of a proof. StateExpired is never stored, because it follows from ExpiresAt.
const (
	StateWaiting State = "waiting" // the call was not made yet
	StateCalled  State = "called"  // the call was made, and the code is expected
	StateProven  State = "proven"
	StateFailed  State = "failed"
	StateExpired State = "expired"
)

// Limits of a proof.
const (
	MaxTries = 5                // number of wrong codes after which a proof fails
	CodeLife = 10 * time.Minute // maximum time from the request to the call, and from the call to the code
	Validity = 24 * time.Hour   // time for which a proven number may be attached
)

// At returns the proof with its state at a time: StateExpired if ExpiresAt has passed, unless the proof has failed.
func (p Proof) At(now time.Time) Proof {
	if p.State != StateFailed && !now.Before(p.ExpiresAt) {
		p.State = StateExpired
	}
	return p
}

// call returns the proof after its call has started. It returns CodeInvalidState if the number was already called or the proof has ended.
func (p Proof) call(now time.Time, hash string) (Proof, error) {
	if p.At(now).State != StateWaiting {
		return p, callwright.Errorf(callwright.CodeInvalidState, "the proof is %s", p.At(now).State)
	}
	p.State, p.Hash, p.CalledAt, p.ExpiresAt = StateCalled, hash, &now, now.Add(CodeLife)
	return p, nil
}

// answer returns the proof after a right or wrong code. It returns CodeBadRequest with the field "code" for a wrong code, and
// CodeInvalidState with the unchanged proof if no code is expected.
func (p Proof) answer(now time.Time, right bool) (Proof, error) {
	switch p.At(now).State {
	case StateCalled:
	case StateWaiting:
		return p, callwright.Errorf(callwright.CodeInvalidState, "the number was not called yet: wait for the call, which reads out the code")
	case StateFailed:
		return p, callwright.Errorf(callwright.CodeInvalidState, "the proof has failed (%s): have the number called again", p.Reason)
	case StateProven:
		return p, callwright.Errorf(callwright.CodeInvalidState, "the number is proven already")
	default:
		return p, callwright.Errorf(callwright.CodeInvalidState, "the code has expired: have the number called again")
	}
	if right {
		p.State, p.ExpiresAt = StateProven, now.Add(Validity)
		return p, nil
	}
	p.Tries++
	if p.Tries < MaxTries {
		return p, callwright.Invalid("code", "must be the code that was read out: %d of %d tries are left", MaxTries-p.Tries, MaxTries)
	}
	return p.fail(fmt.Sprintf("%d wrong codes", MaxTries)), callwright.Invalid("code", "must be the code that was read out: no tries are left, so have the number called again")
}

// fail returns the proof as failed with a reason, or unchanged if it is already proven or failed.
func (p Proof) fail(reason string) Proof {
	if p.State == StateWaiting || p.State == StateCalled {
		p.State, p.Reason = StateFailed, callwright.Clip(reason, 500)
	}
	return p
}
