package run

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
	return node.Watch(ctx, &s.Worker.Watchers, org, id, since, func(ctx context.Context) (node.Revised[Run], error) {
		r, err := s.cfg.Store.Run(ctx, org, id)
		return node.Revised[Run]{Value: r, Revision: r.Revision, Final: r.State.Ended()}, err
	})
}

// wakeWatchers has those who follow runs, and their groups, look now.
func (w *Worker) wakeWatchers(runs ...Run) {
	for _, r := range runs {
		w.Watchers.Wake(r.ID, r.Batch)
	}
}

// Close ends all watchers, for good. The rest of the service keeps working.
func (s *Service) Close() { s.Worker.Watchers.Close() }
