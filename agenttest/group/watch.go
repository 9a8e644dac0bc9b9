package group

import (
	"context"

	"github.com/callwright/callwright"
)

// WatchBatch follows a batch; otherwise see WatchRun. since is the Revision that the Follower has returned with it.
func (s *Service) WatchBatch(
	ctx context.Context, org callwright.OrgID, id string, since int64,
) (*callwright.Follower[Batch], error) {
	return s.watchGroup(ctx, org, id, OneEach, since)
}

// WatchSet follows a simulation set; otherwise see WatchRun.
func (s *Service) WatchSet(
	ctx context.Context, org callwright.OrgID, id string, since int64,
) (*callwright.Follower[Batch], error) {
	return s.watchGroup(ctx, org, id, Simulations, since)
}

func (s *Service) watchGroup(
	ctx context.Context, org callwright.OrgID, id string, kind Kind, since int64,
) (*callwright.Follower[Batch], error) {
	return callwright.Follow(ctx, &s.Worker.Watchers, org, id, since, func(ctx context.Context) (callwright.Revised[Batch], error) {
		b, err := s.groupOf(ctx, org, id, kind)
		return callwright.Revised[Batch]{Value: b, Revision: b.shown(), Final: b.State.Ended()}, err
	})
}

// shown returns what a Follower tells the states of a group apart by. Its Revision counts on when its statistics are stored after
// its end, which stays the same.
func (b Batch) shown() int64 {
	if b.State.Ended() {
		return max(b.Revision, b.EndedAt.UnixMilli())
	}
	return b.Revision
}
