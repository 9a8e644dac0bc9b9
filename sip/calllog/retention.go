package calllog

import (
	"context"
	"time"
)

const (
	deleteEvery   = time.Hour
	forgetTimeout = time.Minute // of one round of deletions
	deleteAtMost  = 500         // maximum number of records per statement
)

// deleteOld deletes the records whose retention period is over, immediately and then every hour, until ctx ends. It runs on every node.
func (s *Service) deleteOld(ctx context.Context) {
	ticker := time.NewTicker(deleteEvery)
	defer ticker.Stop()
	for {
		if err := s.deleteBatch(ctx); err != nil && ctx.Err() == nil {
			s.cfg.Logger.ErrorContext(ctx, "old records of the call log were not removed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (s *Service) deleteBatch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, forgetTimeout)
	defer cancel()
	before := s.cfg.Clock.Now().Add(-s.cfg.Keep)
	for {
		n, err := s.cfg.Store.DeleteOld(ctx, before, deleteAtMost)
		if err != nil || n < deleteAtMost {
			return err
		}
	}
}
