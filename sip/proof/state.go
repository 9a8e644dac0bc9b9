package proof

import (
	"fmt"
	"time"

	"github.com/callwright/callwright"
)

// State is the state of a proof.
type State string

// The states. StateExpired is never stored: it follows from ExpiresAt.
const (
	StateWaiting State = "waiting" // for its call
	StateCalled  State = "called"  // the code is taken
	StateProven  State = "proven"
	StateFailed  State = "failed"
	StateExpired State = "expired"
)

// The bounds of a proof.
const (
	MaxTries = 5                // wrong codes, with which a proof has failed
	CodeLife = 10 * time.Minute // of a request until its call, and of its code after that
	Validity = 24 * time.Hour   // how long a proven number may be attached
)

// At returns the proof as it stands at a time.
func (p Proof) At(now time.Time) Proof {
	if p.State != StateFailed && !now.Before(p.ExpiresAt) {
		p.State = StateExpired
	}
	return p
}

// call returns the proof whose number is called with a code. CodeInvalidState: it was called, or has expired.
func (p Proof) call(now time.Time, hash string) (Proof, error) {
	if p.At(now).State != StateWaiting {
		return p, callwright.Errorf(callwright.CodeInvalidState, "the proof is %s", p.At(now).State)
	}
	p.State, p.Hash, p.CalledAt, p.ExpiresAt = StateCalled, hash, &now, now.Add(CodeLife)
	return p, nil
}

// answer returns the proof after a code, and what is wrong with the code. CodeInvalidState: no code is taken, and nothing has changed.
func (p Proof) answer(now time.Time, right bool) (Proof, error) {
	switch p.At(now).State {
	case StateCalled:
	case StateWaiting:
		return p, callwright.Errorf(callwright.CodeInvalidState, "the number was not called yet")
	case StateFailed:
		return p, callwright.Errorf(callwright.CodeInvalidState, "the proof has failed: %s", p.Reason)
	case StateProven:
		return p, callwright.Errorf(callwright.CodeInvalidState, "the number is proven already")
	default:
		return p, callwright.Errorf(callwright.CodeInvalidState, "the code has expired")
	}
	if right {
		p.State, p.ExpiresAt = StateProven, now.Add(Validity)
		return p, nil
	}
	p.Tries++
	if p.Tries < MaxTries {
		return p, callwright.Invalid("code", "is not the one that was read out: %d of %d tries are left", MaxTries-p.Tries, MaxTries)
	}
	return p.fail(fmt.Sprintf("%d wrong codes", MaxTries)), callwright.Invalid("code", "is not the one that was read out: no tries are left")
}

// fail returns the proof as failed, for a reason. One that is proven or has failed stays as it is.
func (p Proof) fail(reason string) Proof {
	if p.State == StateWaiting || p.State == StateCalled {
		p.State, p.Reason = StateFailed, callwright.Clip(reason, 500)
	}
	return p
}
