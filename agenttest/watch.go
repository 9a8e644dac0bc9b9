package agenttest

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// The maximum numbers of open watchers on a node: for one organization, and the default of Config.Watchers.
const (
	MaxWatchers     = 100
	defaultWatchers = 1000
)

// WatchRun follows a run until it has ended; see node.Watch. since is the caller's Revision; 0: none. CodeNotFound: the
// organization has no run with this id. CodeTooManyRequests: MaxWatchers of the organization or Config.Watchers are open.
// CodeUnavailable: Close was called.
func (s *Service) WatchRun(
	ctx context.Context, org callwright.OrgID, id string, since int64,
) (*node.RecordWatcher[Run], error) {
	return node.Watch(ctx, &s.watchers, org, id, since, func(ctx context.Context) (node.Revised[Run], error) {
		r, err := s.cfg.Store.Run(ctx, org, id)
		return node.Revised[Run]{Value: r, Revision: r.Revision, Final: r.State.Ended()}, err
	})
}

// WatchBatch follows a batch; otherwise see WatchRun. since is the number that the watcher returned with the last state.
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

// shown returns the number by which a watcher distinguishes states of a group. It is the Revision until the end, and then constant,
// although storing the statistics increments the Revision.
func (b Batch) shown() int64 {
	if b.State.Ended() {
		return max(b.Revision, b.EndedAt.UnixMilli())
	}
	return b.Revision
}

// wakeWatchers wakes the watchers of runs and of their groups.
func (s *Service) wakeWatchers(runs ...Run) {
	for _, r := range runs {
		s.watchers.Wake(r.ID, r.Batch)
	}
}

// Close ends all watchers and prevents new ones. The rest of the service keeps working.
func (s *Service) Close() { s.watchers.Close() }
