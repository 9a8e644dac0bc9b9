package call

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"time"

	"github.com/callwright/callwright"
)

// acceptLoop takes incoming calls until ctx ends.
func (s *Service) acceptLoop(ctx context.Context) {
	for {
		pending, err := s.Line.Accept(ctx)
		if ctx.Err() != nil {
			if err == nil {
				s.refuse(pending, CauseOverload)
			}
			return
		}
		if err != nil {
			s.Logger.ErrorContext(ctx, "accepting calls", "error", err)
			return
		}
		s.take(ctx, pending)
	}
}

// take gives an incoming call a place, or refuses it before anything is spent on it.
func (s *Service) take(ctx context.Context, pending Pending) {
	if err := s.Ready(); err != nil {
		s.Logger.ErrorContext(ctx, "refusing a call", "error", err)
		s.refuse(pending, CauseUnavailable)
		return
	}
	id := cmp.Or(pending.Offer().ID, s.IDs.New())
	slot, ok := s.live.take(pending.Offer().Org, id)
	if !ok {
		s.refuse(pending, CauseOverload)
		return
	}
	slot.run(func(ctx context.Context) { s.answer(ctx, id, pending) })
}

func (s *Service) refuse(pending Pending, cause Cause) {
	if err := pending.Reject(cause); err != nil {
		s.Logger.Warn("refusing a call", "error", err)
	}
}

// answer takes an incoming call and runs it to its end.
func (s *Service) answer(ctx context.Context, id string, pending Pending) {
	now := s.Clock.Now()
	offer := pending.Offer()
	c := Call{
		ID: id, Org: offer.Org, Inbound: true, From: offer.From, To: offer.To.String(), CreatedAt: now,
		Queue: QueueAllocated, Node: s.Node, Heartbeat: now, Version: 1,
	}
	c.RequestData = offer.requestData()
	c.Variables = maps.Clone(c.RequestData)
	var err error
	if c.Agent, err = s.Agents.Answering(ctx, offer.Org, offer.To); err != nil {
		s.Logger.ErrorContext(ctx, "taking a call", "number", offer.To, "error", err)
		s.refuse(pending, CauseUnavailable)
		return
	}
	if err := s.Store.Insert(ctx, c); err != nil {
		s.Logger.ErrorContext(ctx, "taking a call", "number", offer.To, "error", err)
		s.refuse(pending, CauseUnavailable)
		s.finish(ctx, c, Ending{Cause: CauseInternal}) // should the record be there after all
		return
	}
	defer s.mend(ctx, &c)
	by, err := s.lead(ctx, c)
	if err != nil {
		s.Logger.ErrorContext(ctx, "loading the pathway of a call", "call_id", c.ID, "error", err)
		s.refuse(pending, CauseUnavailable)
		ending, _ := leaderless(err)
		s.finish(ctx, c, ending)
		return
	}
	book := s.scribe(ctx, c, by.graph)
	defer book.close()
	s.learn(ctx, &c, book)
	leg, err := pending.Answer(ctx)
	if err != nil {
		book.close()
		s.finish(ctx, c, s.unanswered(ctx, c, err))
		return
	}
	s.talk(ctx, c, leg, by, book)
}

// requestData are the variables that an incoming call brings along: those of its trunk's rules by their names, and its
// headers, as every database takes them.
func (o Offer) requestData() map[string]any {
	if len(o.Headers) == 0 && len(o.Variables) == 0 {
		return nil
	}
	data := map[string]any{}
	if len(o.Headers) > 0 {
		headers := make(map[string]any, len(o.Headers)) // as it comes back from a database, and templates look into it
		for name, value := range o.Headers {
			headers[writable(name)] = writable(value)
		}
		data["sip_headers"] = headers
	}
	for name, value := range o.Variables {
		data[writable(name)] = writable(value)
	}
	return data
}

// beatLoop keeps this node's calls alive in the store, and ends those that somebody wants stopped.
func (s *Service) beatLoop(ctx context.Context) {
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	s.pulse.beat(s.Clock.Now())
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := s.Clock.Now()
		if err := s.beat(ctx, now); err != nil {
			s.Logger.ErrorContext(ctx, "heartbeat", "error", err)
			continue
		}
		if s.pulse.beat(now) > deadAfter {
			s.endLost(ctx)
		}
	}
}

// beat is one sign of life.
func (s *Service) beat(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	stops, err := s.Store.Beat(ctx, s.Node, now)
	for _, id := range stops {
		s.live.end(id, errStopped)
	}
	return err
}

// endLost ends the calls that others have closed while nothing was heard of this node.
func (s *Service) endLost(ctx context.Context) {
	for id, org := range s.live.all() {
		c, err := s.Store.Get(ctx, org, id)
		switch {
		case err != nil && !errors.Is(err, callwright.ErrNotFound):
			s.Logger.ErrorContext(ctx, "looking whether a call was closed by another node", "call_id", id, "error", err)
		case err == nil && c.Queue.Ended():
			s.live.end(id, errLost)
		}
	}
}
