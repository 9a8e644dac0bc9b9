package calllog

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	heartbeatEvery = 2 * time.Second
	deadAfter      = 15 * time.Second // without a heartbeat
	lostBatch      = 100              // records that one query looks for
	nodeLost       = "node_lost"      // call.CauseNodeLost
)

// liveness is what a node knows of the other nodes.
type liveness struct {
	since time.Time // the log has answered in every round since; zero: not in the last round
	alive time.Time // every node with open records was alive then; zero: unknown
}

// Run sends a heartbeat of this node every two seconds, ends the records of dead nodes and removes old records, until ctx
// ends. Then it returns nil.
func (s *Service) Run(ctx context.Context) error {
	var forgetting sync.WaitGroup
	forgetting.Go(func() { s.forgetOld(ctx) })
	defer forgetting.Wait()
	ticker := time.NewTicker(heartbeatEvery)
	defer ticker.Stop()
	var l liveness
	for {
		if err := s.heartbeat(ctx, &l); err != nil && ctx.Err() == nil {
			l.since = time.Time{}
			s.cfg.Logger.ErrorContext(ctx, "the heartbeat of the call log failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// heartbeat is one round. It ends records only after the log has answered for as long as a node may be silent, so that
// other nodes have time to come back after an outage.
func (s *Service) heartbeat(ctx context.Context, l *liveness) error {
	now := s.cfg.Clock.Now()
	if err := within(ctx, func(ctx context.Context) error { return s.cfg.Store.BeatNode(ctx, s.cfg.Node, now) }); err != nil {
		return err
	}
	if l.since.IsZero() {
		l.since = now
	}
	if now.Sub(l.since) < deadAfter {
		return nil
	}
	silentSince := now.Add(-deadAfter)
	if err := s.endLost(ctx, silentSince, l.alive); err != nil {
		return err
	}
	l.alive = silentSince
	return nil
}

// endLost ends the records of nodes that have been silent since the given time. The real end of such a call is unknown.
// The log knows two times at which the call was up: when its record was last written, and alive, because the round before
// would have ended it otherwise. The later one becomes the end.
func (s *Service) endLost(ctx context.Context, silentSince, alive time.Time) error {
	for {
		var records []Record
		err := within(ctx, func(ctx context.Context) (err error) {
			records, err = s.cfg.Store.LostCalls(ctx, silentSince, lostBatch)
			return err
		})
		for _, r := range records {
			err = errors.Join(err, s.endRecord(ctx, r, alive))
		}
		if err != nil || len(records) < lostBatch {
			return err
		}
	}
}

func (s *Service) endRecord(ctx context.Context, r Record, alive time.Time) error {
	ended := r.StartedAt
	if r.AnsweredAt != nil {
		ended = *r.AnsweredAt
	}
	if ended.Before(alive) {
		ended = alive
	}
	end := End{AnsweredAt: r.AnsweredAt, EndedAt: &ended, Cause: nodeLost, Reason: "the process that ran the call has ended"}
	return within(ctx, func(ctx context.Context) error { return s.cfg.Store.End(ctx, r.Org, r.ID, end, nil) })
}
