package call

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

const (
	nodeKind   = "call.node"     // kind of the lease that a node holds while it has calls
	stopsEvery = 2 * time.Second // interval of searches for calls to stop
)

// newHeartbeat returns the heartbeat of this node.
func (s *Service) newHeartbeat() (*node.Heartbeat, error) {
	return node.NewHeartbeat(node.HeartbeatConfig{
		Leases: s.cfg.Leases, Kind: nodeKind, Node: s.cfg.Node, OnReturn: s.endLost, Clock: s.cfg.Clock, Logger: s.cfg.Logger,
	})
}

// stopLoop ends the calls of this node that are marked to be stopped.
func (s *Service) stopLoop(ctx context.Context) {
	ticker := time.NewTicker(stopsEvery)
	defer ticker.Stop()
	var failing callwright.Outage
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := s.endStopped(ctx); ctx.Err() == nil {
			failing.Note(ctx, s.cfg.Logger, "cannot look for calls to be stopped", err)
		}
	}
}

func (s *Service) endStopped(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	stops, err := s.cfg.Store.Stops(ctx, s.cfg.Node)
	for _, id := range stops {
		s.live.end(id, errStopped)
	}
	return err
}

// endLost ends the calls that other nodes have closed while this node was disconnected.
func (s *Service) endLost(ctx context.Context) {
	for id, org := range s.live.all() {
		c, err := s.cfg.Store.Get(ctx, org, id)
		switch {
		case err != nil && !errors.Is(err, callwright.ErrNotFound):
			s.cfg.Logger.ErrorContext(ctx, "cannot look whether another node has closed a call", "call_id", id, "error", err)
		case err == nil && c.Queue.Ended():
			s.live.end(id, errLost)
		}
	}
}
