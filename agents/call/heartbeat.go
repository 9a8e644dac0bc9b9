package call

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// How the nodes watch each other: a node that has not been heard of for deadAfter is dead, and its calls are closed.
const (
	beatEvery = 2 * time.Second
	deadAfter = 15 * time.Second
)

// steadyAfter is how long this node waits, after it could not be heard of for as long, before it takes others for dead.
// It is more than a heartbeat may take.
const steadyAfter = deadAfter / 2

// heartbeat knows when this node was last heard of. While the database is away nobody can be heard of, and when it is
// back all nodes are late: a sweep at that moment would close calls that are alive.
type heartbeat struct {
	mu   sync.Mutex
	last time.Time // the last beat; zero: there was none
	back time.Time // the first beat after a gap; zero: there was none
}

// beat notes a beat and returns the time since the one before; 0 for the first.
func (h *heartbeat) beat(now time.Time) (gap time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.last.IsZero() {
		gap = now.Sub(h.last)
	}
	if gap > steadyAfter {
		h.back = now
	}
	h.last = now
	return gap
}

// steady reports whether the others had the time to be heard of since this node was not.
func (h *heartbeat) steady(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last.IsZero() || now.Sub(h.last) <= steadyAfter && now.Sub(h.back) >= steadyAfter
}

// beatLoop keeps this node's calls alive in the store, and ends those that somebody wants stopped.
func (s *Service) beatLoop(ctx context.Context) {
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	s.beats.beat(s.cfg.Clock.Now())
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := s.cfg.Clock.Now()
		if err := s.beat(ctx, now); err != nil {
			s.cfg.Logger.ErrorContext(ctx, "heartbeat", "error", err)
			continue
		}
		if s.beats.beat(now) > deadAfter {
			s.endLost(ctx)
		}
	}
}

// beat is one sign of life.
func (s *Service) beat(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	stops, err := s.cfg.Store.Beat(ctx, s.cfg.Node, now)
	for _, id := range stops {
		s.live.end(id, errStopped)
	}
	return err
}

// endLost ends the calls that others have closed while nothing was heard of this node.
func (s *Service) endLost(ctx context.Context) {
	for id, org := range s.live.all() {
		c, err := s.cfg.Store.Get(ctx, org, id)
		switch {
		case err != nil && !errors.Is(err, callwright.ErrNotFound):
			s.cfg.Logger.ErrorContext(ctx, "looking whether a call was closed by another node", "call_id", id, "error", err)
		case err == nil && c.Queue.Ended():
			s.live.end(id, errLost)
		}
	}
}
