package run

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// MaxWatchers is the maximum number of open watchers of one organization on a node. Config.Watchers limits the watchers of all
// organizations together.
const MaxWatchers = 100

// defaultWatchers is the default of Config.Watchers.
const defaultWatchers = 1000

// WatchRun watches a run until it has ended: see node.Watch. since is the Revision that the caller has already received, or 0 for none.
// WatchRun returns CodeNotFound if the organization has no run with this id, CodeTooManyRequests if MaxWatchers of the organization or
// Config.Watchers are open, and CodeUnavailable after Close.
func (s *Service) WatchRun(
	ctx context.Context, org callwright.OrgID, id string, since int64,
) (*node.RecordWatcher[Run], error) {
	return node.Watch(ctx, &s.Worker.Watchers, org, id, since, func(ctx context.Context) (node.Revised[Run], error) {
		r, err := s.cfg.Store.Run(ctx, org, id)
		return node.Revised[Run]{Value: r, Revision: r.Revision, Final: r.State.Ended()}, err
	})
}

// wakeWatchers wakes the watchers of the runs and of the runs' groups.
func (w *Worker) wakeWatchers(runs ...Run) {
	for _, r := range runs {
		w.Watchers.Wake(r.ID, r.Batch)
	}
}

// Close closes all watchers and prevents new ones. It does not affect the rest of the service.
func (s *Service) Close() { s.Worker.Watchers.Close() }
