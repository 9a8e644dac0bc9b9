package call

import (
	"context"
	"errors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// With these causes this node cancels the context of a running call.
var (
	errStopped     = errors.New("stopped by its owner")
	errDraining    = &HangupReason{Cause: CauseDrained, Reason: "the server is stopping"}
	errMaxDuration = errors.New("the call reached its longest duration")
	errLost        = errors.New("another node has closed the call")
)

// newLive returns the Holder of the calls that run on this node, with their organizations. A call first claims a slot, so that a full or
// draining node refuses it without further work.
func (s *Service) newLive() (*node.Holder[callwright.OrgID], error) {
	return node.NewHolder[callwright.OrgID](node.HolderConfig{
		Leases: s.cfg.Leases, Kind: "call.node", Node: s.cfg.Node, Most: s.cfg.MaxCalls,
		Stops: s.cfg.Store.Stops, OnReturn: s.endLost, Loops: []func(context.Context){s.acceptLoop, s.observed.run},
		Stopped: errStopped, Draining: errDraining, DrainFor: s.cfg.DrainTimeout,
		Runtime: s.cfg.Runtime,
	})
}

// endLost ends the running calls that other nodes have closed while this node was disconnected from the database.
func (s *Service) endLost(ctx context.Context) {
	for id, org := range s.live.All() {
		c, err := s.cfg.Store.Get(ctx, org, id)
		switch {
		case err != nil && !errors.Is(err, callwright.ErrNotFound):
			s.cfg.Logger.ErrorContext(ctx, "cannot look whether another node has closed a call", "call_id", id, "error", err)
		case err == nil && c.Queue.Ended():
			s.live.Stop(id, errLost)
		}
	}
}
