package leg

import (
	"sync"

	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
)

// Audio is the media session of a call. One leg at a time uses it. When the peer transfers us, the leg to the target takes over the session
// with its SDP answer, and Read and Write continue without interruption.
type Audio struct {
	session trunk.MediaSession

	mu     sync.Mutex
	user   *media         // the leg that uses the session; nil before the first SDP answer
	agreed sdp.Negotiated // the parameters that user has applied
	lent   bool           // another leg may take over the session
	ended  bool           // the leg of user has ended since lendSession
}

// NewAudio returns the Audio of a new call. The Audio closes the session at the end of the call.
func NewAudio(session trunk.MediaSession) *Audio { return &Audio{session: session} }

// lendSession allows another leg to take over the session. Until Return, the end of the current leg puts the session on hold instead of
// closing it.
func (a *Audio) lendSession() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lent = true
}

// Return reverses Leg.Lend. It closes the session if the leg that uses it has ended.
func (a *Audio) Return() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lent = false
	if a.ended {
		_ = a.session.Close()
	}
}

// Discard closes the session if no leg has used it.
func (a *Audio) Discard() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.user == nil {
		_ = a.session.Close()
	}
}

// apply applies the parameters that a leg has negotiated. It does nothing if another leg uses the session, unless m claims it.
func (a *Audio) apply(m *media, n sdp.Negotiated) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.user != nil && a.user != m && !m.claims {
		return nil
	}
	if err := a.session.Apply(n); err != nil {
		return err
	}
	a.user, a.agreed, m.claims, a.ended = m, n, false, false
	return nil
}

// close ends a leg's use of the session. If another leg uses the session, close does nothing. If another leg may take over the session,
// close puts it on hold. Otherwise close closes the session.
func (a *Audio) close(m *media) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.user != nil && a.user != m:
		return nil
	case a.lent:
		a.ended = true
		held := a.agreed
		held.Direction, held.RemoteHold = sdp.Inactive, true
		return a.session.Apply(held)
	default:
		return a.session.Close()
	}
}
