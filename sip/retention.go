package sip

import (
	"context"
	"time"
)

// How long calls are kept in the log. Alerts look back for up to maxRateWindow.
const (
	standardKeep = 90 * 24 * time.Hour
	minKeep      = maxRateWindow
)

const (
	forgetEvery    = time.Hour
	forgetPatience = time.Minute // for one round
	forgetAtOnce   = 500         // records that are removed in one statement
)

// forgetOld removes from the log, at once and every hour, what is older than KeepCalls, until ctx ends. With several nodes
// each does so: what one has removed the others don't find.
func (s *Service) forgetOld(ctx context.Context) {
	ticker := time.NewTicker(forgetEvery)
	defer ticker.Stop()
	for {
		if err := s.forget(ctx); err != nil && ctx.Err() == nil {
			s.Logger.ErrorContext(ctx, "old calls can't be removed from the log", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (s *Service) forget(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, forgetPatience)
	defer cancel()
	before := s.Clock.Now().Add(-s.KeepCalls)
	for {
		n, err := s.Log.ForgetCalls(ctx, before, forgetAtOnce)
		if err != nil || n < forgetAtOnce {
			return err
		}
	}
}
