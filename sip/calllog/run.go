package calllog

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright/node"
)

const (
	lostBatch = 100         // maximum number of records per query
	nodeLost  = "node_lost" // value of call.CauseNodeLost
)

// Run renews the lease of this node, ends the records of dead nodes and deletes old records, until ctx ends. It then returns nil.
func (s *Service) Run(ctx context.Context) error { return s.node.Run(ctx) }

// finishLost ends the records of dead nodes. It skips records that started less than LeaseTTL ago, because their nodes may have started
// after the nodes were listed.
func (s *Service) finishLost(ctx context.Context) error {
	before := s.cfg.Clock.Now().Add(-node.LeaseTTL)
	peers, ok, err := s.node.Peers(ctx)
	if err != nil || !ok {
		return err
	}
	for {
		var records []Record
		err := within(ctx, func(ctx context.Context) (err error) {
			records, err = s.cfg.Store.Lost(ctx, peers.Alive, before, lostBatch)
			return err
		})
		for _, r := range records {
			err = errors.Join(err, s.finishRecord(ctx, r, peers.LastSeen(r.Node)))
		}
		if err != nil || len(records) < lostBatch {
			return err
		}
	}
}

// finishRecord ends a record of a dead node. The real end of such a call is unknown. The record therefore ends at the last time at which
// the call was known to be up: the last write of the record or the last heartbeat of the node, whichever is later.
func (s *Service) finishRecord(ctx context.Context, r Record, lastSeen time.Time) error {
	ended := r.StartedAt
	if r.AnsweredAt != nil {
		ended = *r.AnsweredAt
	}
	if ended.Before(lastSeen) {
		ended = lastSeen
	}
	end := End{AnsweredAt: r.AnsweredAt, EndedAt: &ended, Cause: nodeLost, Reason: "the process that ran the call has ended"}
	return within(ctx, func(ctx context.Context) error { return s.cfg.Store.Finish(ctx, r.Org, r.ID, end, nil) })
}
