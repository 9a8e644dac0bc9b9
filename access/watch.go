package access

import (
	"sync"

	"github.com/callwright/callwright"
)

// watchers holds the channels of Watch by the session and key that they watch.
type watchers struct {
	mu sync.Mutex
	of map[use]map[chan struct{}]bool // two entries per channel: its session and its key
}

func newWatchers() *watchers { return &watchers{of: map[use]map[chan struct{}]bool{}} }

// Watch returns a channel that receives a value when SignOut, DeleteSession, RevokeKey or RotateKey of this Service may have ended the
// session. The receiver then calls Session to read the state: a key rotated with an overlap is still valid. The channel does not report
// sessions that expire, that other nodes end, or that SignIn deletes because of MaxSessions. The caller must call stop.
func (s *Service) Watch(session callwright.Session) (ended <-chan struct{}, stop func()) {
	w, told := s.watchers, make(chan struct{}, 1)
	names := []use{{session.ID, true}, {session.KeyID, false}}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range names {
		if w.of[name] == nil {
			w.of[name] = map[chan struct{}]bool{}
		}
		w.of[name][told] = true
	}
	return told, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, name := range names {
			if delete(w.of[name], told); len(w.of[name]) == 0 {
				delete(w.of, name)
			}
		}
	}
}

// notifyEnded sends a value to the watchers of a session or a key. It does not block.
func (w *watchers) notifyEnded(ended use) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for told := range w.of[ended] {
		select {
		case told <- struct{}{}:
		default:
		}
	}
}
