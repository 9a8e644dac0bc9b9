package call

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/callwright/callwright"
)

// busyNode is how long a queued call waits when this node has no room for it.
const busyNode = time.Second

// place is the step that takes a queued call to this node. From the moment that the store says so, the call either ends
// here or, should the node die, is closed by another node's sweep: it is never dialed twice. One whose pathway could not be
// loaded until the last attempt ends, too: nobody would come back to it.
func (s *Service) place(ctx context.Context, task callwright.Task, attempt int) error {
	c, err := s.cfg.Store.Get(ctx, task.Org, task.Key)
	if errors.Is(err, callwright.ErrNotFound) || err == nil && !s.placeable(c) {
		return nil // gone, cancelled, or taken
	}
	if err != nil {
		return err
	}
	if c.Queue == QueueQueued && c.StopRequested { // by a node that died before it could close the call
		return taken(s.cancel(ctx, c))
	}
	by, err := s.lead(ctx, c)
	if ending, gone := leaderless(err); err != nil && (gone || attempt >= task.MaxAttempts) {
		return taken(s.close(ctx, c, ending, s.cfg.Clock.Now(), func(_ context.Context, stored Call) bool { return stored.Queue == c.Queue }))
	}
	if err != nil {
		return err
	}
	slot, ok := s.live.take(c.Org, c.ID)
	if !ok {
		return &callwright.Error{Code: callwright.CodeUnavailable, Message: "no room on this node", RetryAfter: busyNode}
	}
	if c, err = s.allocate(ctx, c); err != nil {
		slot.free()
		return taken(err)
	}
	slot.run(func(ctx context.Context) { s.dial(ctx, c, by) })
	return nil
}

// placeable says whether a call waits to be dialed. One that this node has taken does too while it does not run: an
// earlier run of the step has taken it without getting to know that.
func (s *Service) placeable(c Call) bool {
	return c.Queue == QueueQueued || c.Queue == QueueAllocated && !c.Inbound && c.Node == s.cfg.Node && !s.live.has(c.ID)
}

// allocate makes a call, whose slot is taken, this node's. It looks at the call again: nobody else on this node moves
// it now.
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

// dial places a call that this node owns, and runs it to its end.
func (s *Service) dial(ctx context.Context, c Call, by lead) {
	defer s.recoverPanic(ctx, &c)
	book := s.writeRecord(ctx, c, by.graph)
	defer book.close()
	book.notice(EventsQueue, EventInfo, "allocated")
	s.observed.add(Observation{What: ObservedStarted, At: s.cfg.Clock.Now(), Call: c})
	s.fetchDynamicData(ctx, &c, book)
	leg, err := s.cfg.Line.Dial(ctx, DialRequest{
		CallID: c.ID, Org: c.Org, From: callwright.PhoneNumber(c.From), To: callwright.PhoneNumber(c.To),
		Variables: c.texts(),
	}, func(p Progress) {
		book.notice(EventsCall, EventInfo, string(p))
		if p == ProgressRinging {
			s.observed.add(Observation{What: ObservedRinging, At: s.cfg.Clock.Now(), Call: book.call})
		}
	})
	if err != nil {
		book.close()
		s.finish(ctx, c, s.unanswered(ctx, c, err))
		return
	}
	s.talk(ctx, c, leg, by, book)
}

// texts are what is known before the call, as text: what is no text, number or boolean is left out.
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

// unanswered is the ending of a call that nobody took.
func (s *Service) unanswered(ctx context.Context, c Call, err error) HangupReason {
	if context.Cause(ctx) != nil {
		return HangupReason{Cause: CauseCancelled, Reason: context.Cause(ctx).Error()}
	}
	if e, ok := errors.AsType[*HangupReason](err); ok {
		return *e
	}
	s.cfg.Logger.ErrorContext(ctx, "placing a call", "call_id", c.ID, "error", err)
	return HangupReason{Cause: CauseInternal, Reason: callwright.MessageOf(err)}
}

// recoverPanic ends the record of a call whose goroutine panicked; no other call notices.
func (s *Service) recoverPanic(ctx context.Context, c *Call) {
	if r := recover(); r != nil {
		s.cfg.Logger.ErrorContext(ctx, "a call panicked", "call_id", c.ID, "panic", r)
		if known, err := s.recall(context.WithoutCancel(ctx), *c); err == nil {
			c.Variables = known
		}
		s.finish(ctx, *c, HangupReason{Cause: CauseInternal})
	}
}
