package access

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// UseInterval is the minimum time between two writes of the last use of one key or session, across all nodes.
const UseInterval = time.Minute

// Limits of the writes of uses.
const (
	maxUses   = 1000            // keys and sessions with a pending use; uses of further keys and sessions are dropped
	useBatch  = 100             // keys and sessions per transaction
	usePause  = time.Second     // pause after a round of writes, or after a full batch of deletions
	lastFlush = 2 * time.Second // time limit of the last writes after ctx is canceled
)

// use identifies a used key or, if session is true, a used session.
type use struct {
	id      string
	session bool
}

// order compares two uses: keys precede sessions, and each group is ordered by id.
func (u use) order(v use) int {
	if u.session == v.session {
		return cmp.Compare(u.id, v.id)
	}
	if v.session {
		return -1
	}
	return 1
}

// uses holds the keys and sessions with pending uses.
type uses struct {
	mu      sync.Mutex
	pending map[use]time.Time // times of the uses
	wake    chan struct{}
}

func newUses() *uses { return &uses{pending: map[use]time.Time{}, wake: make(chan struct{}, 1)} }

// note queues the use of a key or a session at the given time. It drops the use if the last stored use is less than UseInterval old, if
// another use of the same key or session is pending, or if maxUses are pending. It does not wait for the store.
func (u *uses) note(what use, last *time.Time, now time.Time) {
	if last != nil && now.Sub(*last) < UseInterval {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, waits := u.pending[what]; waits || len(u.pending) >= maxUses {
		return
	}
	u.pending[what] = now
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// drain empties the pending uses and returns them.
func (u *uses) drain() map[use]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.pending
	u.pending = map[use]time.Time{}
	return taken
}

// Run writes the last uses of keys and sessions until ctx is canceled, and deletes idle sessions about once an hour. After the cancellation
// it writes the pending uses, for at most lastFlush, and returns nil. Each key and session is written at most once per UseInterval. If a
// transaction fails, its uses are dropped; later uses are written as usual. Requests never wait for these writes. Without Run, keys show no
// last use, each session ends SessionIdle after its sign-in even if it is used, and idle sessions are not deleted.
func (s *Service) Run(ctx context.Context) error {
	pause := time.NewTimer(0)
	defer pause.Stop()
	sweep := time.NewTimer(0)
	defer sweep.Stop()
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
			s.writeUses(ctx)
			pause.Reset(usePause)
		case <-sweep.C:
			sweep.Reset(s.sweepSessions(ctx))
			pause.Reset(0)
		}
	}
}

// finish writes the pending uses after ctx was canceled, within lastFlush.
func (s *Service) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastFlush)
	defer cancel()
	s.writeUses(ctx)
}

// writeUses writes the pending uses, in transactions of up to useBatch. All nodes write in the same order, which avoids deadlocks.
func (s *Service) writeUses(ctx context.Context) {
	taken := s.uses.drain()
	for batch := range slices.Chunk(slices.SortedFunc(maps.Keys(taken), use.order), useBatch) {
		err := s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
			for _, u := range batch {
				touch := s.cfg.Store.TouchKey
				if u.session {
					touch = s.cfg.Store.TouchSession
				}
				if err := touch(ctx, u.id, taken[u], UseInterval); err != nil {
					return err
				}
			}
			return nil
		})
		s.writing.Note(ctx, s.cfg.Logger, "the last use of API keys and sessions is not written", err, "count", len(batch))
	}
}
