package access

import (
	"sync"

	"github.com/callwright/callwright"
)

// watchers holds the channels of Watch, by session and key.
type watchers struct {
	mu sync.Mutex
	of map[use]map[chan struct{}]bool // by the session or the key
}

func newWatchers() *watchers { return &watchers{of: map[use]map[chan struct{}]bool{}} }

// Watch returns a channel that holds a value as soon as this Service has ended a session or its key: by SignOut, DeleteSession, RevokeKey, or
// RotateKey without an overlap. Session then returns the current state. The channel does not report
// sessions that other nodes end, or that expire. The caller calls stop, once.
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

// notifyEnded notifies the watchers of a session or a key that it has ended. It does not block.
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
