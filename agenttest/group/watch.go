package group

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// WatchBatch watches a batch. since is the number that a watcher returned with the last state. Otherwise see WatchRun.
func (s *Service) WatchBatch(
	ctx context.Context, org callwright.OrgID, id string, since int64,
) (*node.RecordWatcher[Batch], error) {
	return s.watchGroup(ctx, org, id, OneEach, since)
}

// WatchSet watches a simulation set. Otherwise see WatchBatch.
func (s *Service) WatchSet(
	ctx context.Context, org callwright.OrgID, id string, since int64,
) (*node.RecordWatcher[Batch], error) {
	return s.watchGroup(ctx, org, id, Simulations, since)
}

func (s *Service) watchGroup(
	ctx context.Context, org callwright.OrgID, id string, kind Kind, since int64,
) (*node.RecordWatcher[Batch], error) {
	return node.Watch(ctx, &s.Worker.Watchers, org, id, since, func(ctx context.Context) (node.Revised[Batch], error) {
		b, err := s.groupOf(ctx, org, id, kind)
		return node.Revised[Batch]{Value: b, Revision: b.watchRevision(), Final: b.State.Ended()}, err
	})
}

// watchRevision returns the number by which a watcher distinguishes states of a group. It is the Revision until the group has ended. Then
// it is constant, although storing the statistics increments the Revision.
func (b Batch) watchRevision() int64 {
	if b.State.Ended() {
		return max(b.Revision, b.EndedAt.UnixMilli())
	}
	return b.Revision
}
