package tornado

import (
	"context"

	"github.com/callwright/callwright"
)

// The bounds of open Followers on a node: those of one organization, and the default of Config.Watchers.
const (
	MaxWatchers     = 20
	defaultWatchers = 200
)

// Watch follows a session until it has ended; see callwright.Follow. since is the Revision that the caller has; 0: none.
// CodeNotFound: the organization has no session of this id. CodeTooManyRequests: MaxWatchers of the organization or Config.Watchers
// are open. CodeUnavailable: Close was called.
func (s *Service) Watch(
	ctx context.Context, org callwright.OrgID, id string, since int64,
) (*callwright.Follower[Session], error) {
	return callwright.Follow(ctx, &s.watchers, org, id, since, func(ctx context.Context) (callwright.Revised[Session], error) {
		session, err := s.cfg.Store.Session(ctx, org, id)
		return callwright.Revised[Session]{Value: session, Revision: session.Revision, Final: session.State.Ended()}, err
	})
}

// Close ends all Followers, for good. The rest of the service keeps working.
func (s *Service) Close() { s.watchers.Close() }
