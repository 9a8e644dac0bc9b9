package leg

import (
	"sync"

	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
)

// Audio is the media session of a call. One leg at a time uses it: when the peer transfers us, the leg to the target takes
// it over with its answer, and readers and writers notice nothing.
type Audio struct {
	session trunk.MediaSession

	mu     sync.Mutex
	user   *media         // whose answers apply; nil before the first one
	agreed sdp.Negotiated // by user
	lent   bool           // another leg may take over
	ended  bool           // the user's call has ended meanwhile
}

// NewAudio returns the audio of a new call.
func NewAudio(session trunk.MediaSession) *Audio { return &Audio{session: session} }

// lendSession lets another leg take over: until Return, the end of the user's call holds the session instead of closing it.
func (a *Audio) lendSession() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lent = true
}

// Return reverses Lend. It closes the session if its user's call has ended.
func (a *Audio) Return() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lent = false
	if a.ended {
		_ = a.session.Close()
	}
}

// Discard closes a session that no leg has used.
func (a *Audio) Discard() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.user == nil {
		_ = a.session.Close()
	}
}

// apply applies a leg's negotiated parameters, unless another leg has taken over.
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

// close ends a leg's use. The session stays when another leg uses it, or may still take it over.
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
