package agenttest

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// The bounds of open watchers on a node: those of one organization, and the default of Config.Watchers.
const (
	MaxWatchers     = 100
	defaultWatchers = 1000
)

// WatchRun follows a run until it has ended; see node.Watch. since is the Revision that the caller has; 0: none. CodeNotFound:
// the organization has no run of this id. CodeTooManyRequests: MaxWatchers of the organization or Config.Watchers are open.
// CodeUnavailable: Close was called.
func (s *Service) WatchRun(
	ctx context.Context, org callwright.OrgID, id string, since int64,
) (*node.RecordWatcher[Run], error) {
	return node.Watch(ctx, &s.watchers, org, id, since, func(ctx context.Context) (node.Revised[Run], error) {
		r, err := s.cfg.Store.Run(ctx, org, id)
		return node.Revised[Run]{Value: r, Revision: r.Revision, Final: r.State.Ended()}, err
	})
}

// WatchBatch follows a batch; otherwise see WatchRun. since is the Revision that the watcher has returned with it.
func (s *Service) WatchBatch(
	ctx context.Context, org callwright.OrgID, id string, since int64,
) (*node.RecordWatcher[Batch], error) {
	return s.watchGroup(ctx, org, id, OneEach, since)
}

// WatchSet follows a simulation set; otherwise see WatchRun.
func (s *Service) WatchSet(
	ctx context.Context, org callwright.OrgID, id string, since int64,
) (*node.RecordWatcher[Batch], error) {
	return s.watchGroup(ctx, org, id, Simulations, since)
}

func (s *Service) watchGroup(
	ctx context.Context, org callwright.OrgID, id string, kind Kind, since int64,
) (*node.RecordWatcher[Batch], error) {
	return node.Watch(ctx, &s.watchers, org, id, since, func(ctx context.Context) (node.Revised[Batch], error) {
		b, err := s.groupOf(ctx, org, id, kind)
		return node.Revised[Batch]{Value: b, Revision: b.shown(), Final: b.State.Ended()}, err
	})
}

// shown returns what a watcher tells the states of a group apart by. Its Revision counts on when its statistics are stored after
// its end, which stays the same.
func (b Batch) shown() int64 {
	if b.State.Ended() {
		return max(b.Revision, b.EndedAt.UnixMilli())
	}
	return b.Revision
}

// wakeWatchers has those who follow runs, and their groups, look now.
func (s *Service) wakeWatchers(runs ...Run) {
	for _, r := range runs {
		s.watchers.Wake(r.ID, r.Batch)
	}
}

// Close ends all watchers, for good. The rest of the service keeps working.
func (s *Service) Close() { s.watchers.Close() }
