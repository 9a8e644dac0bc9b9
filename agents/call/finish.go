package call

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/node"
)

// finish stores the end of a call. It retries until the store accepts the end, or until the stored record shows that the call was deleted,
// has ended or no longer belongs to its node. If this process dies first, the task call.sweep of another node closes the call.
func (s *Service) finish(ctx context.Context, c Call, e HangupReason, at time.Time) {
	ctx = context.WithoutCancel(ctx)
	e.Reason, e.Release = writable(e.Reason), writable(e.Release)
	own := func(_ context.Context, stored Call) bool { return stored.Node == c.Node }
	// Only this node writes c while it holds the call, so c is current. A retry, however, depends on StopRequested, which other nodes set:
	// for a plan with a retry, close reads the record again.
	end := s.closeAsKnown
	if c.Plan.Retry != nil {
		end = s.close
	}
	const longest = 5 * time.Second
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, longest) {
		err := end(ctx, c, e, at, own)
		if err == nil {
			return
		}
		end = s.close
		if errors.Is(err, callwright.ErrConflict) || errors.Is(err, callwright.ErrNotFound) {
			if err = end(ctx, c, e, at, own); err == nil {
				return
			}
		}
		s.cfg.Logger.ErrorContext(ctx, "cannot write the end of a call", "call_id", c.ID, "error", err)
		pause(ctx, wait)
	}
}

// mayClose reports whether a call with this stored record may be closed.
type mayClose func(ctx context.Context, stored Call) bool

// close moves a call to the end state of its hang-up reason, unless the call was deleted, has ended, or may returns false. Only the first
// of several nodes closes a call; the others change nothing. The fields come from c if the stored Queue equals c.Queue, and otherwise from
// the stored record. Variables are always c's; StopRequested is always the stored one.
func (s *Service) close(ctx context.Context, c Call, e HangupReason, at time.Time, may mayClose) error {
	return s.closeBy(ctx, e, at, func(ctx context.Context) (end Call, open bool, err error) {
		stored, err := s.cfg.Store.Get(ctx, c.Org, c.ID)
		if errors.Is(err, callwright.ErrNotFound) || err == nil && (stored.Queue.Ended() || !may(ctx, stored)) {
			return end, false, nil
		}
		end = c
		if stored.Queue != c.Queue {
			end = stored
		}
		end.Version, end.Variables, end.StopRequested = stored.Version, c.Variables, stored.StopRequested
		end.unrecorded, end.summary, end.ModelCalls, end.Models = c.unrecorded, c.summary, c.ModelCalls, c.Models
		return end, true, err
	})
}

// closeAsKnown closes a call whose record is c, without reading the stored record. It returns CodeConflict or CodeNotFound if c is
// outdated.
func (s *Service) closeAsKnown(ctx context.Context, c Call, e HangupReason, at time.Time, _ mayClose) error {
	return s.closeBy(ctx, e, at, func(context.Context) (Call, bool, error) { return c, true, nil })
}

// closeBy closes the call that find returns, in one transaction with the consequences of its end: the retry, the notice, and the tasks
// after the call. It does nothing if open is false.
func (s *Service) closeBy(
	ctx context.Context, e HangupReason, at time.Time, find func(ctx context.Context) (end Call, open bool, err error),
) error {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	var end Call
	err := s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		found, open, err := find(ctx)
		if end = found; err != nil || !open {
			end = Call{}
			return err
		}
		before := end.Queue
		if e.SIPCode == 0 && end.StartedAt != nil { // the answer's code
			e.SIPCode = statusOK
		}
		end.Status, end.ErrorMessage = end.outcome(e)
		if end.Queue, err = before.Move(endEvent(before, end.Status)); err != nil {
			return err
		}
		end.Ending, end.EndedAt, end.Node = &e, &at, ""
		if end.StartedAt == nil {
			end.AnsweredBy = AnsweredByNobody
		}
		if end.Agent.Webhook != "" {
			end.Delivery.State = DeliveryPending
		}
		if end.retriable() {
			if err := s.queueRetry(ctx, &end, at); err != nil {
				return err
			}
		}
		if err := s.cfg.Store.Update(ctx, end); err != nil {
			return err
		}
		if err := s.announce(ctx, end, end.last(at)); err != nil {
			return err
		}
		if err := s.tellFailure(ctx, end); err != nil {
			return err
		}
		return s.report(ctx, end)
	})
	if err == nil && end.ID != "" {
		s.observed.add(Observation{What: ObservedEnded, At: at, Call: end, Summary: end.summary})
	}
	return err
}

// outcome returns the status of a call that ended for a reason, and its error message, which joins all errors. The message is empty without
// errors.
func (c Call) outcome(e HangupReason) (Status, string) {
	status, message := e.outcome()
	all := []string{message, "", c.Stats.Fault, c.unrecorded, c.summary.unrecognized()}
	if e.Unconfirmed {
		all[1] = notReached
	}
	return status, strings.Join(slices.DeleteFunc(all, func(what string) bool { return what == "" }), "; ")
}

// last returns the notice that reports a call's end.
func (c Call) last(at time.Time) Notice {
	text := "ended: " + string(c.Status)
	if c.ErrorMessage != "" {
		text += ", " + c.ErrorMessage
	}
	return Notice{Seq: lastNotice, Category: EventsCall, Level: EventInfo, Message: text, CreatedAt: at}
}

// endEvent returns the event that moves a call to its end state: EventCancel, EventFinish or EventFail.
func endEvent(q QueueStatus, s Status) Event {
	switch {
	case s == StatusCanceled && q != QueueStarted:
		return EventCancel
	case q == QueueStarted && (s == StatusCompleted || s == StatusCanceled):
		return EventFinish
	default:
		return EventFail
	}
}

// Stop ends a call. It cancels a queued call immediately, and hangs up a running call within two seconds, on any node. It returns
// CodeInvalidState if the call has ended.
func (s *Service) Stop(ctx context.Context, org callwright.OrgID, id string) error {
	c, err := s.cfg.Store.Get(ctx, org, id)
	if err != nil {
		return err
	}
	if c.Queue.Ended() {
		return callwright.Errorf(callwright.CodeInvalidState, "the call has already ended")
	}
	if err := s.cfg.Store.RequestStop(ctx, org, id); err != nil {
		return err
	}
	s.live.Stop(id, errStopped)
	if c.Queue != QueueQueued {
		return nil
	}
	// If another node allocates the call meanwhile, that node finds the stored request to stop.
	return ignoreConflict(s.cancel(ctx, c))
}

// ignoreConflict returns nil for CodeConflict and CodeNotFound: another node or request has changed or deleted the call.
func ignoreConflict(err error) error {
	if errors.Is(err, callwright.ErrConflict) || errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	return err
}

// cancel closes a queued call. It does nothing if the call is no longer queued.
func (s *Service) cancel(ctx context.Context, c Call) error {
	waits := func(_ context.Context, stored Call) bool { return stored.Queue == QueueQueued }
	return s.close(ctx, c, HangupReason{Cause: CauseCancelled, Reason: errStopped.Error()}, s.cfg.Clock.Now(), waits)
}

// sweep runs the task call.sweep: it closes the calls of dead nodes, at most 100 in a run. It does nothing while this node cannot tell
// which nodes are dead.
func (s *Service) sweep(ctx context.Context, _ callwright.Task, _ int) error {
	const batch = 100
	before := s.cfg.Clock.Now().Add(-node.LeaseTTL)
	peers, ok, err := s.live.Peers(ctx)
	if err != nil || !ok {
		return err
	}
	dead, err := s.cfg.Store.Lost(ctx, peers.Alive, before, batch)
	if err != nil {
		return err
	}
	var failed []error
	for _, c := range dead {
		if s.live.Holds(c.ID) {
			continue // this node renewed its lease late, but still runs the call
		}
		s.cfg.Logger.WarnContext(ctx, "closing the call of a dead node", "call_id", c.ID, "dead_node", c.Node)
		if c.Variables, c.Models, err = s.recoverLogs(ctx, c); err != nil {
			failed = append(failed, err)
			continue
		}
		if err := s.recoverSpoken(ctx, c); err != nil {
			failed = append(failed, err)
			continue
		}
		seen, err := s.lastSeen(ctx, c, peers)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		c.Recorded = s.recordedUntil(ctx, c)
		lost := func(ctx context.Context, stored Call) bool {
			now, ok, err := s.live.Peers(ctx)
			return stored.Queue == c.Queue && err == nil && ok && !slices.Contains(now.Alive, c.Node)
		}
		failed = append(failed, s.close(ctx, c, HangupReason{Cause: CauseNodeLost}, seen, lost))
	}
	return errors.Join(failed...)
}

// recoverLogs returns the variables and the models of a call whose node or goroutine has died, from its record and its logs.
func (s *Service) recoverLogs(ctx context.Context, c Call) (map[string]any, []ModelUse, error) {
	logs, err := s.cfg.Store.Logs(ctx, c.Org, c.ID)
	known := merged(c.Variables, nil)
	var uses []llm.Use
	for _, l := range logs {
		remember(known, l)
		uses = llm.AddUses(llm.AddUses(uses, l.Models...), l.Withdrawn.Models...)
	}
	return known, s.used(uses), err
}

// recoverSpoken adds the line that the agent of a call was speaking to the transcript, because the call's node or goroutine has died. If two
// nodes do so at a time, or one does it twice, the line is added once.
func (s *Service) recoverSpoken(ctx context.Context, c Call) error {
	line, ok, err := s.cfg.Store.Spoken(ctx, c.Org, c.ID)
	if err != nil || !ok {
		return err
	}
	at, err := s.cfg.Store.Position(ctx, c.Org, c.ID)
	if err != nil {
		return err
	}
	line.Seq = at.Line + 1
	return s.cfg.Store.Append(ctx, c.Org, c.ID, line)
}

// lastSeen returns the latest time at which the call of a dead node was known to be live: its allocation, its answer, its last line, or the
// node's last heartbeat.
func (s *Service) lastSeen(ctx context.Context, c Call, peers node.Peers) (time.Time, error) {
	lines, err := s.cfg.Store.Transcript(ctx, c.Org, c.ID)
	seen := c.TakenAt
	for _, line := range lines {
		if line.CreatedAt.After(seen) {
			seen = line.CreatedAt
		}
	}
	if at := peers.LastSeen(c.Node); at.After(seen) {
		seen = at
	}
	if c.StartedAt != nil && c.StartedAt.After(seen) {
		seen = *c.StartedAt
	}
	return seen, err
}

// recordedUntil reports whether an interrupted call has a recording. This node can read a partial recording, unless it is on another
// machine's disk.
func (s *Service) recordedUntil(ctx context.Context, c Call) bool {
	if !c.Agent.Record || c.Queue != QueueStarted {
		return false
	}
	recording, err := s.cfg.Recordings.Open(ctx, c.Org, c.ID)
	if err != nil {
		return false
	}
	return recording.Close() == nil
}
