package run

import (
	"context"
	"sync"

	"github.com/callwright/callwright"
)

// These constants limit the snapshots that a node caches.
const (
	maxSnapshots     = 100
	maxSnapshotBytes = 8 << 20 // total size of their scenarios: see scenario.Scenario.Size
)

// snapshots caches the snapshots of recent runs. The runs of a set alternate between its scenarios, so a few snapshots suffice for many
// runs.
type snapshots struct {
	mu    sync.Mutex
	kept  map[snapshotKey]keptSnapshot
	bytes int
}

type snapshotKey struct {
	org callwright.OrgID
	id  string
}

type keptSnapshot struct {
	Snapshot

	bytes int
}

// find returns a cached snapshot.
func (s *snapshots) find(key snapshotKey) (Snapshot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap, ok := s.kept[key]
	return snap.Snapshot, ok
}

// add caches a snapshot. Beyond the limits, it evicts arbitrary other snapshots.
func (s *snapshots) add(key snapshotKey, snap Snapshot) {
	size := snap.Scenario.Size()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, twice := s.kept[key]; twice {
		return
	}
	if s.kept == nil {
		s.kept = map[snapshotKey]keptSnapshot{}
	}
	for other, o := range s.kept {
		if len(s.kept) < maxSnapshots && s.bytes+size <= maxSnapshotBytes {
			break
		}
		delete(s.kept, other)
		s.bytes -= o.bytes
	}
	s.kept[key] = keptSnapshot{snap, size}
	s.bytes += size
}

// snapshotOf returns a run's snapshot, from the cache if possible. Runs share the snapshot, so the caller must not change it.
func (w *Worker) snapshotOf(ctx context.Context, r Run) (Snapshot, error) {
	key := snapshotKey{r.Org, r.Snapshot}
	if snap, ok := w.snapshots.find(key); ok {
		return snap, nil
	}
	snap, err := w.cfg.Store.Snapshot(ctx, r.Org, r.Snapshot)
	if err == nil {
		w.snapshots.add(key, snap)
	}
	return snap, err
}
