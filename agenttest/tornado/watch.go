package tornado

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// MaxWatchers is the maximum number of open watchers of one organization on a node. Config.Watchers bounds those of all.
const MaxWatchers = 20

// defaultWatchers is the default of Config.Watchers.
const defaultWatchers = 200

// Watch watches a session until it has ended; see node.Watch. since is the caller's Revision; 0: none. CodeNotFound: the
// organization has no session with this id. CodeTooManyRequests: MaxWatchers of the organization or Config.Watchers are open.
// CodeUnavailable: Close was called.
func (s *Service) Watch(
	ctx context.Context, org callwright.OrgID, id string, since int64,
) (*node.RecordWatcher[Session], error) {
	return node.Watch(ctx, &s.watchers, org, id, since, func(ctx context.Context) (node.Revised[Session], error) {
		session, err := s.cfg.Store.Session(ctx, org, id)
		return node.Revised[Session]{Value: session, Revision: session.Revision, Final: session.State.Ended()}, err
	})
}

// Close ends all watchers and prevents new ones. The rest of the service keeps working.
func (s *Service) Close() { s.watchers.Close() }
