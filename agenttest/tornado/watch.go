package tornado

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// MaxWatchers limits the open watchers of one organization on a node. Config.Watchers limits the watchers of all organizations.
const MaxWatchers = 20

// defaultWatchers is the default of Config.Watchers.
const defaultWatchers = 200

// Watch returns a watcher that reports the changes of a session until the session has ended; see node.Watch. since is the Revision that the
// caller has already read, or 0. The error is CodeNotFound if the organization has no session with this id, and CodeUnavailable after
// Close. It is CodeTooManyRequests if MaxWatchers of the organization or Config.Watchers are open.
func (s *Service) Watch(
	ctx context.Context, org callwright.OrgID, id string, since int64,
) (*node.RecordWatcher[Session], error) {
	return node.Watch(ctx, &s.watchers, org, id, since, func(ctx context.Context) (node.Revised[Session], error) {
		session, err := s.cfg.Store.Session(ctx, org, id)
		return node.Revised[Session]{Value: session, Revision: session.Revision, Final: session.State.Ended()}, err
	})
}

// Close closes all watchers and prevents new ones. It does not affect the running sessions.
func (s *Service) Close() { s.watchers.Close() }
