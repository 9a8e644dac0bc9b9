package agenttest

import (
	"context"

	"github.com/callwright/callwright"
)

// The bounds of open Followers on a node: those of one organization, and the default of Config.Watchers.
const (
	MaxWatchers     = 100
	defaultWatchers = 1000
)

// WatchRun follows a run until it has ended; see callwright.Follow. since is the Revision that the caller has; 0: none. CodeNotFound:
// the organization has no run of this id. CodeTooManyRequests: MaxWatchers of the organization or Config.Watchers are open.
// CodeUnavailable: Close was called.
func (s *Service) WatchRun(
	ctx context.Context, org callwright.OrgID, id string, since int64,
) (*callwright.Follower[Run], error) {
	return callwright.Follow(ctx, &s.watchers, org, id, since, func(ctx context.Context) (callwright.Revised[Run], error) {
		r, err := s.cfg.Store.Run(ctx, org, id)
		return callwright.Revised[Run]{Value: r, Revision: r.Revision, Final: r.State.Ended()}, err
	})
}

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
	return callwright.Follow(ctx, &s.watchers, org, id, since, func(ctx context.Context) (callwright.Revised[Batch], error) {
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

// wakeWatchers has those who follow runs, and their groups, look now.
func (s *Service) wakeWatchers(runs ...Run) {
	for _, r := range runs {
		s.watchers.Wake(r.ID, r.Batch)
	}
}

// Close ends all Followers, for good. The rest of the service keeps working.
func (s *Service) Close() { s.watchers.Close() }
