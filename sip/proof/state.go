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
	StateCalled  State = "called"  // the code is expected
	StateProven  State = "proven"
	StateFailed  State = "failed"
	StateExpired State = "expired"
)

// The bounds of a proof.
const (
	MaxTries = 5                // wrong codes that fail a proof
	CodeLife = 10 * time.Minute // of a request until its call, and of its code after that
	Validity = 24 * time.Hour   // time for which a proven number may be attached
)

// At returns the proof in its state at a time.
func (p Proof) At(now time.Time) Proof {
	if p.State != StateFailed && !now.Before(p.ExpiresAt) {
		p.State = StateExpired
	}
	return p
}

// call returns the proof after the start of its call. It returns CodeInvalidState if the number was already called or the proof has
// expired.
func (p Proof) call(now time.Time, hash string) (Proof, error) {
	if p.At(now).State != StateWaiting {
		return p, callwright.Errorf(callwright.CodeInvalidState, "the proof is %s", p.At(now).State)
	}
	p.State, p.Hash, p.CalledAt, p.ExpiresAt = StateCalled, hash, &now, now.Add(CodeLife)
	return p, nil
}

// answer returns the proof after a code, and the error of a wrong code. It changes nothing and returns CodeInvalidState when no
// code is expected.
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

// fail returns the proof as failed, for a reason. A proven or failed proof stays unchanged.
func (p Proof) fail(reason string) Proof {
	if p.State == StateWaiting || p.State == StateCalled {
		p.State, p.Reason = StateFailed, callwright.Clip(reason, 500)
	}
	return p
}
