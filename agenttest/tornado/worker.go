package tornado

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// These constants are the kinds of durable tasks.
const (
	taskClear  = "tornado.clear"
	taskDelete = "tornado.forget"
)

// These constants are the intervals, timeouts and limits of a worker.
const (
	sweepEvery   = node.LeaseRenewal
	patience     = 10 * time.Second // timeout of a transaction
	storeTimeout = time.Minute      // time limit for storing a step or the end of a session, retries included
	storeRest    = 200 * time.Millisecond
	failedRest   = 5 * time.Second // wait before an interrupted session is released
	deleteEvery  = time.Hour
	retention    = 400 * 24 * time.Hour // age at which an ended session is deleted; equal to the retention of its runs
	maxDeleted   = 100                  // sessions deleted in one call
)

// These errors are the reasons why a session is interrupted.
var (
	errCancelled = errors.New("the session is cancelled")
	errDeadline  = errors.New("the deadline of the session has passed")
	errStopping  = errors.New("the node stops")
	errLost      = errors.New("another node holds the session, or it was deleted")
)

// newLive returns the Holder that claims, runs and interrupts the sessions of this node.
func (s *Service) newLive() (*node.Holder[struct{}], error) {
	return node.NewHolder[struct{}](node.HolderConfig{
		Leases: s.cfg.Leases, Kind: "tornado.node", Node: s.cfg.Node, Most: s.cfg.Concurrent,
		Claim: s.claim, Refill: true, Stops: s.cfg.Store.CancelledSessions, Stopped: errCancelled, Draining: errStopping,
		Runtime: s.cfg.Runtime,
	})
}

// Run runs sessions until ctx ends. It then interrupts its sessions, so that any node can continue them from their last step. The error is
// always nil.
func (s *Service) Run(ctx context.Context) error { return s.live.Run(ctx) }

// claim claims sessions that no living node holds. A new node that cannot determine yet which nodes are alive claims only sessions without
// a node. Every sweepEvery it also looks for sessions that the store assigns to this node although it does not hold them, because the
// answer to a change was lost.
func (s *Service) claim(ctx context.Context) error {
	free := s.live.Free()
	if free == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	peers, ok, err := s.live.Peers(ctx)
	if err != nil {
		return err
	}
	var left []Session
	switch now := s.cfg.Clock.Now(); {
	case !ok:
		left, err = s.cfg.Store.WaitingSessions(ctx, free)
	case now.Sub(s.swept) < sweepEvery:
		left, err = s.cfg.Store.AbandonedSessions(ctx, peers.Alive, free)
	default:
		others := slices.DeleteFunc(peers.Alive, func(node string) bool { return node == s.cfg.Node })
		left, err = s.cfg.Store.AbandonedSessions(ctx, others, free+s.live.Len())
		s.swept = now
	}
	if err != nil {
		return err
	}
	for _, session := range left {
		slot, ok := s.live.Hold(ctx, session.ID, struct{}{})
		if !ok {
			continue
		}
		session.Node = s.cfg.Node
		if err := s.cfg.Store.UpdateSession(ctx, session); err != nil {
			slot.Release()
			if errors.Is(err, callwright.ErrConflict) || errors.Is(err, callwright.ErrNotFound) {
				continue // another node claimed it first
			}
			return err
		}
		session.Revision++
		slot.Go(func(ctx context.Context) { s.hold(ctx, session) })
	}
	return nil
}

// hold runs the search of a session and stores its end. If the search is interrupted, hold releases the session, so that any node can
// continue it.
func (s *Service) hold(ctx context.Context, session Session) {
	log := s.cfg.Logger.With("session_id", session.ID, "org", session.Org)
	log.InfoContext(ctx, "this node holds a tornado session", "iterations", len(session.Iterations))
	ctx, cancel := context.WithDeadlineCause(ctx, time.Now().Add(session.Deadline.Sub(s.cfg.Clock.Now())), errDeadline)
	defer cancel()
	j, err := s.open(ctx, session)
	if err == nil {
		err = s.search(ctx, j)
	}
	held := context.WithoutCancel(ctx)
	switch {
	case err == nil:
		s.end(held, j)
	case errors.Is(err, errLost):
		log.WarnContext(held, "a tornado session no longer belongs to this node: another node has taken it over, or it was deleted")
	case errors.Is(err, errStopping):
	default:
		log.ErrorContext(held, "a tornado session is interrupted and goes on from its last step", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(failedRest):
		}
	}
	s.release(held, session)
}

// search runs the search of a session. It returns the cause of an interruption, or nil at the end. A panic of a port ends the session as
// Failed, because the port may belong to an embedding program.
func (s *Service) search(ctx context.Context, j *journal) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.cfg.Logger.ErrorContext(ctx, "panic in a tornado session", "session_id", j.session.ID, "org", j.session.Org,
				"panic", p, "stack", string(debug.Stack()))
			j.session.State, j.session.Stop, j.session.Detail, err = Failed, StopInfrastructure, "internal error", nil
		}
	}()
	p, err := Search(ctx, j.config(ctx))
	switch {
	case j.failed != nil:
		return j.failed
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	}
	j.session.Progress = p
	return nil
}

// release clears the Node of a session that has not ended and still belongs to this node. It first reads the session, because a change
// whose answer was lost may or may not be stored.
func (s *Service) release(ctx context.Context, session Session) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := callwright.Retry(ctx, func(ctx context.Context) error {
		stored, err := s.cfg.Store.Session(ctx, session.Org, session.ID)
		if err != nil || stored.State.Ended() || stored.Node != s.cfg.Node {
			return err
		}
		stored.Node = ""
		return s.cfg.Store.UpdateSession(ctx, stored)
	})
	if err != nil && !errors.Is(err, callwright.ErrNotFound) {
		s.cfg.Logger.ErrorContext(ctx, "a tornado session cannot be released: this node takes it again after a while",
			"session_id", session.ID, "org", session.Org, "error", err)
	}
}

// end stores the end of a session, deletes its journal, and enqueues taskClear. It retries for storeTimeout if the database is unavailable.
// It stores nothing if another node holds the session or the session was deleted.
func (s *Service) end(ctx context.Context, j *journal) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	session := j.stored
	session.Progress, session.Usage, session.EndedAt = j.session.Progress.shown(), j.session.Usage, s.cfg.Clock.Now()
	if session.Stop == StopBudget {
		session.Detail = budgetDetail(session)
	}
	for {
		err := s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
			if err := s.cfg.Store.UpdateSession(ctx, session); err != nil {
				return err
			}
			if err := s.cfg.Store.DeleteSteps(ctx, session.Org, session.ID); err != nil {
				return err
			}
			return s.cfg.Work.Enqueue(ctx, callwright.Task{Kind: taskClear, Key: session.ID, Org: session.Org})
		})
		log := s.cfg.Logger.With("session_id", session.ID, "org", session.Org)
		switch {
		case err == nil:
			log.InfoContext(ctx, "a tornado session has ended", "state", session.State, "stop_reason", session.Stop, "detail", session.Detail)
			s.watchers.Wake(session.ID)
			return
		case errors.Is(err, callwright.ErrConflict), errors.Is(err, callwright.ErrNotFound):
			log.WarnContext(ctx, "the end of a tornado session is not stored: another node has taken it over, or it was deleted")
			return
		}
		select {
		case <-ctx.Done():
			log.ErrorContext(ctx, "the end of a tornado session cannot be stored: a node will resume the session", "error", err)
			return
		case <-time.After(storeRest):
		}
	}
}

// budgetDetail returns a text about the used and the total budget of a session, for Session.Detail.
func budgetDetail(s Session) string {
	used, parts := s.Usage.Spend, []string{}
	if s.Budget.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d tokens", used.Tokens, s.Budget.Tokens))
	}
	if s.Budget.Cost > 0 {
		parts = append(parts, fmt.Sprintf("a cost of %s of %s", used.Cost, s.Budget.Cost))
	}
	return "used " + strings.Join(parts, " and ") + ": start another session from the best version, with a larger budget"
}

// clear is a durable task. After the end of a session it cancels the last iteration's trials and discards the forks that were not accepted.
func (s *Service) clear(ctx context.Context, t callwright.Task, _ int) error {
	session, err := s.cfg.Store.Session(ctx, t.Org, t.Key)
	if errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	if err != nil || len(session.Iterations) == 0 {
		return err
	}
	for _, name := range session.Iterations[len(session.Iterations)-1].Trials {
		if err := s.cfg.Runs.StopTrial(ctx, t.Org, TrialID(session.ID, name)); err != nil {
			return err
		}
	}
	for _, it := range session.Iterations {
		if it.Version == 0 || it.Outcome == IsBaseline || it.Outcome == Accepted || it.Version == session.Best || it.Version == session.Base {
			continue
		}
		err := s.cfg.Pathways.Discard(ctx, t.Org, session.Pathway, it.Version)
		kept := errors.Is(err, callwright.ErrInvalidState) // the version is in use or waits for its tests
		if err != nil && !kept && !errors.Is(err, callwright.ErrNotFound) {
			return err
		}
	}
	return nil
}

// deleteOld is a durable task that deletes the sessions that ended more than retention ago.
func (s *Service) deleteOld(ctx context.Context, _ callwright.Task, _ int) error {
	for {
		n, err := s.cfg.Store.DeleteSessions(ctx, s.cfg.Clock.Now().Add(-retention), maxDeleted)
		if err != nil || n < maxDeleted {
			return err
		}
	}
}
