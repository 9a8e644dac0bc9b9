package sip

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	beatEvery  = 2 * time.Second
	deadAfter  = 15 * time.Second // how long a node may be silent
	lostAtOnce = 100              // records that are looked for in one query
	nodeLost   = "node_lost"      // call.CauseNodeLost
)

// vigil is what a node knows of the others.
type vigil struct {
	since time.Time // since when the log has been there in every round; zero: it was not in the last one
	alive time.Time // up to when every node whose records are open is known to have lived; zero: not known
}

// Run says every two seconds that this node lives, closes the records of nodes that don't, and forgets old calls, until
// ctx ends.
func (s *Service) Run(ctx context.Context) {
	var forgetting sync.WaitGroup
	forgetting.Go(func() { s.forgetOld(ctx) })
	defer forgetting.Wait()
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	var v vigil
	for {
		if err := s.beat(ctx, &v); err != nil && ctx.Err() == nil {
			v.since = time.Time{}
			s.Logger.ErrorContext(ctx, "the call log can't be told that this node lives, or what others have lost", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// beat is one round. Records are closed only while the log has been there for as long as a node may be silent: after an
// outage the others come back first.
func (s *Service) beat(ctx context.Context, v *vigil) error {
	now := s.Clock.Now()
	if err := within(ctx, func(ctx context.Context) error { return s.Log.BeatNode(ctx, s.Node, now) }); err != nil {
		return err
	}
	if v.since.IsZero() {
		v.since = now
	}
	if now.Sub(v.since) < deadAfter {
		return nil
	}
	silentSince := now.Add(-deadAfter)
	if err := s.closeLost(ctx, silentSince, v.alive); err != nil {
		return err
	}
	v.alive = silentSince
	return nil
}

// closeLost ends the records of nodes that have been silent since the given time. Nobody knows when such a call really
// ended, only that it was there when its record was last written, and that its node lived at alive, or the round before
// would have closed it. The later of the two is the last time at which the call is known to have been: right to within a
// few seconds while any node is up, and never more than was seen.
func (s *Service) closeLost(ctx context.Context, silentSince, alive time.Time) error {
	for {
		var records []CallRecord
		err := within(ctx, func(ctx context.Context) (err error) {
			records, err = s.Log.LostCalls(ctx, silentSince, lostAtOnce)
			return err
		})
		for _, r := range records {
			err = errors.Join(err, s.closeRecord(ctx, r, alive))
		}
		if err != nil || len(records) < lostAtOnce {
			return err
		}
	}
}

func (s *Service) closeRecord(ctx context.Context, r CallRecord, alive time.Time) error {
	ended := r.StartedAt
	if r.AnsweredAt != nil {
		ended = *r.AnsweredAt
	}
	if ended.Before(alive) {
		ended = alive
	}
	end := CallEnd{AnsweredAt: r.AnsweredAt, EndedAt: &ended, Cause: nodeLost, Reason: "the process that had the call is gone"}
	return within(ctx, func(ctx context.Context) error { return s.Log.EndCall(ctx, r.Org, r.ID, end, nil) })
}
