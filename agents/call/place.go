package call

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
)

// busyNode is how long a queued call waits if this node has no free slot.
const busyNode = time.Second

// place runs the task call.place: it allocates a queued call to this node and dials it. After the allocation is stored, the call ends on
// this node or, if this node dies, is closed by another node's sweep. It is never dialed twice. If the call's pathway is permanently
// missing, or the last attempt cannot load it, place closes the call.
func (s *Service) place(ctx context.Context, task callwright.Task, attempt int) error {
	c, err := s.cfg.Store.Get(ctx, task.Org, task.Key)
	if errors.Is(err, callwright.ErrNotFound) || err == nil && !s.placeable(c) {
		return nil // the call was deleted, canceled, or claimed
	}
	if err != nil {
		return err
	}
	if c.Queue == QueueQueued && c.StopRequested { // a node requested the stop, and died before it closed the call
		return ignoreConflict(s.cancel(ctx, c))
	}
	by, err := s.loadLeader(ctx, c)
	if ending, gone := hangupWithoutLeader(err); err != nil && (gone || attempt >= task.MaxAttempts) {
		return ignoreConflict(s.close(ctx, c, ending, s.cfg.Clock.Now(), func(_ context.Context, stored Call) bool { return stored.Queue == c.Queue }))
	}
	if err != nil {
		return err
	}
	slot, ok := s.live.Hold(callwright.WithLog(context.Background(), slog.String("call_id", c.ID)), c.ID, c.Org)
	if !ok {
		return &callwright.Error{Code: callwright.CodeUnavailable, Message: "this node cannot start the call now: it is stopping or runs its maximum number of calls", RetryAfter: busyNode}
	}
	if c, err = s.allocate(ctx, c); err != nil {
		slot.Release()
		return ignoreConflict(err)
	}
	slot.Go(func(ctx context.Context) { s.dial(ctx, c, by) })
	return nil
}

// placeable reports whether a call must be dialed. Either it is queued, or it is allocated to this node but does not run, because the
// store's answer to the allocation was lost.
func (s *Service) placeable(c Call) bool {
	return c.Queue == QueueQueued || c.Queue == QueueAllocated && !c.Inbound && c.Node == s.cfg.Node && !s.live.Holds(c.ID)
}

// allocate allocates a call to this node. The function place already holds a slot for the call. allocate reads the call again, because the
// record may have changed before the slot was claimed. It returns CodeConflict if another node holds the call, or the call has ended.
func (s *Service) allocate(ctx context.Context, seen Call) (Call, error) {
	c, err := s.cfg.Store.Get(ctx, seen.Org, seen.ID)
	if err != nil {
		return c, err
	}
	if c.Queue == QueueAllocated && c.Node == s.cfg.Node {
		return c, nil
	}
	if c.Queue != QueueQueued {
		return c, callwright.ErrConflict
	}
	c.Queue, _ = c.Queue.Move(EventAllocate)
	c.Node, c.TakenAt = s.cfg.Node, s.cfg.Clock.Now()
	err = s.cfg.Store.Update(ctx, c)
	c.Version++
	return c, err
}

// dial dials a call of this node, and runs it until it ends.
func (s *Service) dial(ctx context.Context, c Call, by loadLeader) {
	clock := callwright.SteadyClock(s.cfg.Clock)
	defer s.recoverPanic(ctx, &c, clock)
	book := s.writeRecord(ctx, c, clock)
	defer book.close()
	book.notice(EventsQueue, EventInfo, "allocated")
	s.observed.add(Observation{What: ObservedStarted, At: clock.Now(), Call: c})
	s.fetchDynamicData(ctx, &c, book)
	ears := conversation.NewEarlyStreamer(s.recognizer(c.Org))
	defer ears.Close()
	leg, err := s.cfg.Line.Dial(ctx, DialRequest{
		CallID: c.ID, Org: c.Org, From: callwright.PhoneNumber(c.From), To: callwright.PhoneNumber(c.To),
		Variables: c.texts(),
	}, func(p Progress) {
		prepare(ctx, ears, c.Agent)
		if p == ProgressRinging {
			book.notice(EventsCall, EventInfo, string(p))
			s.observed.add(Observation{What: ObservedRinging, At: clock.Now(), Call: book.call})
		}
	})
	if err != nil {
		at := clock.Now()
		book.close()
		s.finish(ctx, c, s.unanswered(ctx, c, err), at)
		return
	}
	s.runConversation(ctx, c, leg, by, ears, book)
}

// texts returns the call's variables as texts for the trunk's headers. It omits values other than strings, numbers and booleans.
func (c Call) texts() map[string]string {
	texts := map[string]string{}
	for name, value := range c.Variables {
		switch value := value.(type) {
		case float64:
			texts[name] = strconv.FormatFloat(value, 'f', -1, 64)
		case string, bool, int, int64:
			texts[name] = fmt.Sprint(value)
		}
	}
	return texts
}

// unanswered returns the hang-up reason of a call that was not answered, from the cause of ctx or else from the error of Dial or Answer.
func (s *Service) unanswered(ctx context.Context, c Call, err error) HangupReason {
	e, known := errors.AsType[*HangupReason](err)
	if given := context.Cause(ctx); given != nil {
		why := HangupReason{Cause: CauseCancelled, Reason: given.Error()}
		if errors.Is(given, errDraining) {
			why = *errDraining
		}
		if known {
			why.SIPCode, why.Release = e.SIPCode, e.Release
		}
		return why
	}
	if known {
		return *e
	}
	s.cfg.Logger.ErrorContext(ctx, "cannot place a call", "call_id", c.ID, "error", err)
	return HangupReason{Cause: CauseInternal, Reason: callwright.MessageOf(err)}
}

// recoverPanic closes the record of a call whose goroutine panicked. Other calls continue.
func (s *Service) recoverPanic(ctx context.Context, c *Call, clock callwright.Clock) {
	if r := recover(); r != nil {
		at := clock.Now()
		s.cfg.Logger.ErrorContext(ctx, "a call panicked", "call_id", c.ID, "panic", r)
		if known, models, err := s.recoverLogs(context.WithoutCancel(ctx), *c); err == nil {
			c.Variables, c.Models = known, models
		}
		if err := s.recoverSpoken(context.WithoutCancel(ctx), *c); err != nil {
			s.cfg.Logger.ErrorContext(ctx, "the line that the agent was speaking is lost", "call_id", c.ID, "error", err)
		}
		s.finish(ctx, *c, HangupReason{Cause: CauseInternal}, at)
	}
}
