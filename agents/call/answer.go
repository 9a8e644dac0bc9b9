package call

import (
	"cmp"
	"context"
	"log/slog"
	"maps"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/conversation"
)

// acceptLoop accepts incoming calls until ctx ends or Accept fails. It rejects a call that arrives when ctx has ended.
func (s *Service) acceptLoop(ctx context.Context) {
	for {
		pending, err := s.cfg.Line.Accept(ctx)
		if ctx.Err() != nil {
			if err == nil {
				s.refuse(ctx, pending, CauseOverload)
			}
			return
		}
		if err != nil {
			s.cfg.Logger.ErrorContext(ctx, "accepting calls", "error", err)
			return
		}
		s.admit(ctx, pending)
	}
}

// admit starts to answer an incoming call on a slot of this node. It rejects the call if the server is not ready or no slot is free, before
// the call uses further resources.
func (s *Service) admit(ctx context.Context, pending IncomingCall) {
	id := cmp.Or(pending.Caller().ID, s.cfg.IDs.New())
	ctx = callwright.WithLog(ctx, slog.String("call_id", id))
	if err := s.cfg.Ready(); err != nil {
		s.cfg.Logger.ErrorContext(ctx, "rejecting a call", "error", err)
		s.refuse(ctx, pending, CauseInternal)
		return
	}
	slot, ok := s.live.Hold(ctx, id, pending.Caller().Org)
	if !ok {
		s.refuse(ctx, pending, CauseOverload)
		return
	}
	slot.Go(func(ctx context.Context) { s.answer(ctx, id, pending) })
}

func (s *Service) refuse(ctx context.Context, pending IncomingCall, cause Cause) {
	if err := pending.Reject(cause); err != nil {
		s.cfg.Logger.WarnContext(ctx, "rejecting a call", "error", err)
	}
}

// answer answers an incoming call and runs it until it ends. It rejects the call if its agent, persona or pathway is not available, or if
// its record cannot be stored.
func (s *Service) answer(ctx context.Context, id string, pending IncomingCall) {
	clock := callwright.SteadyClock(s.cfg.Clock)
	now := clock.Now()
	offer := pending.Caller()
	c := Call{
		ID: id, Org: offer.Org, Inbound: true, From: offer.From, To: offer.To.String(), CreatedAt: now,
		Queue: QueueAllocated, Node: s.cfg.Node, TakenAt: now, Version: 1,
	}
	c.RequestData = offer.requestData()
	c.Variables = maps.Clone(c.RequestData)
	agent, noAgent := s.cfg.Agents.Answering(ctx, offer.Org, offer.To)
	if _, gone := hangupWithoutLeader(noAgent); noAgent != nil && !gone {
		s.cfg.Logger.ErrorContext(ctx, "cannot take a call", "number", offer.To, "error", noAgent)
		s.refuse(ctx, pending, CauseInternal)
		return
	}
	c.Agent = agent
	if err := s.cfg.Store.Insert(ctx, c); err != nil {
		s.cfg.Logger.ErrorContext(ctx, "cannot take a call", "number", offer.To, "error", err)
		s.refuse(ctx, pending, CauseInternal)
		s.finish(ctx, c, HangupReason{Cause: CauseInternal, SIPCode: statusInternal}, clock.Now()) // the record may be stored despite the error
		return
	}
	defer s.recoverPanic(ctx, &c, clock)
	s.observed.add(Observation{What: ObservedStarted, At: now, Call: c})
	var by loadLeader
	err := noAgent
	if err == nil {
		by, err = s.loadLeader(ctx, c)
	}
	if err != nil {
		ending, none := hangupWithoutLeader(err)
		refusal, level := CauseInternal, slog.LevelError
		if ending.SIPCode = statusInternal; none { // nothing answers at the number on any node, because of the organization's settings
			refusal, ending.SIPCode, level = CauseUnavailable, statusUnavailable, slog.LevelWarn
		}
		s.cfg.Logger.Log(ctx, level, "cannot load the agent, the pathway or the persona of a call", "call_id", c.ID, "error", err)
		s.refuse(ctx, pending, refusal)
		s.finish(ctx, c, ending, clock.Now())
		return
	}
	book := s.writeRecord(ctx, c, clock)
	defer book.close()
	ears := conversation.NewEarlyStreamer(s.recognizer(c.Org))
	defer ears.Close()
	prepare(ctx, ears, c.Agent)
	s.fetchDynamicData(ctx, &c, book)
	leg, err := pending.Answer(ctx)
	if err != nil {
		at := clock.Now()
		book.close()
		s.finish(ctx, c, s.unanswered(ctx, c, err), at)
		return
	}
	s.runConversation(ctx, c, leg, by, ears, book)
}

// probableRate is the sample rate in Hz of the telephone codecs, which most calls use.
const probableRate = 8000

// prepare begins to open the recognizer's session of a ringing call. The rate of the call is known only after the answer: the conversation
// of a call with another rate opens another session.
func prepare(ctx context.Context, ears *conversation.EarlyStreamer, a agents.Agent) {
	ears.Prepare(ctx, conversation.Hearing{Rate: probableRate, Language: a.Language, Keywords: a.Terms()})
}

// requestData returns the variables of an incoming call: the variables of its trunk's rules, and its headers in "sip_headers". It removes
// characters that some databases cannot store.
func (i CallerInfo) requestData() map[string]any {
	if len(i.Headers) == 0 && len(i.Variables) == 0 {
		return nil
	}
	data := map[string]any{}
	if len(i.Headers) > 0 {
		headers := make(map[string]any, len(i.Headers)) // map[string]any, because databases return this type and templates read it
		for name, value := range i.Headers {
			headers[writable(name)] = writable(value)
		}
		data["sip_headers"] = headers
	}
	for name, value := range i.Variables {
		data[writable(name)] = writable(value)
	}
	return data
}
