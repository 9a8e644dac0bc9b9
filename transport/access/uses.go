package access

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// UseInterval is the shortest time between two writes of the use of one key, on all nodes together.
const UseInterval = time.Minute

// The bounds of what is to be written.
const (
	maxUses   = 1000            // keys whose use waits to be written; those of further ones are not
	useBatch  = 100             // keys in a transaction
	usePause  = time.Second     // between two rounds
	lastFlush = 2 * time.Second // for what is left at the end
)

// uses are the keys whose use is to be written.
type uses struct {
	mu      sync.Mutex
	pending map[string]time.Time // when, by key
	wake    chan struct{}
}

func newUses() *uses { return &uses{pending: map[string]time.Time{}, wake: make(chan struct{}, 1)} }

// note has the use of a key written soon, unless its record has one of less than UseInterval ago. It does not wait.
func (u *uses) note(k callwright.APIKey, now time.Time) {
	if k.LastUsedAt != nil && now.Sub(*k.LastUsedAt) < UseInterval {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, waits := u.pending[k.ID]; waits || len(u.pending) >= maxUses {
		return
	}
	u.pending[k.ID] = now
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// take returns what is to be written, and forgets it.
func (u *uses) take() map[string]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.pending
	u.pending = map[string]time.Time{}
	return taken
}

// Run writes when keys were used last, until ctx ends. It returns nil. Each key's use is written at most once in a
// UseInterval. What cannot be written is logged and forgotten, and the next use of the key counts again. Requests never
// wait for it; without it, keys show no last use.
func (s *Service) Run(ctx context.Context) error {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			s.finish(ctx)
			return nil
		case <-pause.C:
		}
		select {
		case <-ctx.Done():
			s.finish(ctx)
			return nil
		case <-s.uses.wake:
		}
		s.writeUses(ctx)
		pause.Reset(usePause)
	}
}

// finish writes what is left when ctx has ended.
func (s *Service) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastFlush)
	defer cancel()
	s.writeUses(ctx)
}

// writeUses writes what is to be written. Nodes write keys in one order, so that none holds what another waits for.
func (s *Service) writeUses(ctx context.Context) {
	taken := s.uses.take()
	ids := slices.SortedFunc(maps.Keys(taken), cmp.Compare[string])
	for batch := range slices.Chunk(ids, useBatch) {
		err := s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
			for _, id := range batch {
				if err := s.cfg.Store.TouchKey(ctx, id, taken[id], UseInterval); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			s.cfg.Logger.WarnContext(ctx, "the last use of API keys is not written", "keys", len(batch), "error", err)
		}
	}
}
