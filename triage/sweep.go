package triage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/callwright/callwright"
)

// sweep ends at most sweepAtOnce silent sessions. If it fails to end one, it still ends the others.
func (s *Service) sweep(ctx context.Context, _ callwright.Task, _ int) error {
	now := s.cfg.Clock.Now()
	sessions, err := s.cfg.Store.SilentSessions(ctx, now.Add(-SilentAfter), now.Add(-WaitsAtMost), sweepAtOnce)
	if err != nil {
		return err
	}
	var failed []error
	for _, seen := range sessions {
		if err := s.endSilent(ctx, seen); err != nil {
			failed = append(failed, fmt.Errorf("session %s of issue %s: %w", seen.ID, seen.IssueID, err))
		}
	}
	return errors.Join(failed...)
}

// endSilent ends a silent session, unless the session has changed since the search or its issue was deleted.
func (s *Service) endSilent(ctx context.Context, seen Session) error {
	_, err := s.inSession(ctx, seen.Org, System(), seen.IssueID, seen.ID, func(ctx context.Context, c *change, sess *Session) error {
		if sess.Revision != seen.Revision {
			return nil
		}
		why := fmt.Sprintf("The agent has sent nothing for %d minutes.", SilentAfter/time.Minute)
		if sess.Status == SessionAwaitingInput {
			why = fmt.Sprintf("Nobody has answered for %d days.", WaitsAtMost/(24*time.Hour))
		}
		return s.advance(ctx, c, sess, c.by, Step{Type: TypeError, Detail: why}, Step{Type: TypeSessionStopped, Status: SessionError})
	})
	if errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	return err
}
