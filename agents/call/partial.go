package call

import (
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
)

// The limits of partial texts.
const (
	partialEvery = 200 * time.Millisecond // minimum interval of the observations of a call
	maxPartial   = 4000                   // maximum length of a text in bytes
)

// partials holds the latest partial text of each call of this node. It queues the texts for Config.Observe: a newer text of a call replaces
// the queued one, so that the queue contains each call at most once.
type partials struct {
	observing bool          // whether texts are queued
	wake      chan struct{} // contains a token if a call was queued

	mu    sync.Mutex
	calls map[string]*partialText // by call id
	queue []string                // ids of the calls with a queued text, in the order in which they were queued
}

// partialText is the latest partial text of a call.
type partialText struct {
	latest  Observation
	current bool      // no line has replaced the text
	queued  bool      // the queue contains the call
	fresh   bool      // the text must be delivered
	next    time.Time // earliest delivery of the next text
}

func newPartials(observing bool) *partials {
	return &partials{observing: observing, wake: make(chan struct{}, 1), calls: map[string]*partialText{}}
}

// set replaces the text of a call. An empty text means that the former text was not said.
func (p *partials) set(o Observation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.calls[o.Call.ID]
	if t == nil {
		t = &partialText{}
		p.calls[o.Call.ID] = t
	}
	if t.current && t.latest.Partial == o.Partial {
		return
	}
	t.latest, t.current, t.fresh = o, o.Partial.Text != "", true
	if p.observing && !t.queued {
		t.queued = true
		p.queue = append(p.queue, o.Call.ID)
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
}

// replace discards the text of a call if the line contains or answers its words.
func (p *partials) replace(id string, line Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.calls[id]
	if t != nil && (line.Speaker == SpeakerUser || t.latest.Partial.Turn > 0 && line.Turn >= t.latest.Partial.Turn) {
		t.current, t.fresh = false, false
	}
}

// end discards all data of a call.
func (p *partials) end(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.calls, id)
}

// next returns the next queued observation and true. If the first queued call is not due yet, it returns false and the time until then. It
// returns false and 0 if no call is queued.
func (p *partials) next(now time.Time) (o Observation, wait time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 {
		t := p.calls[p.queue[0]]
		if t != nil && t.fresh {
			if wait = t.next.Sub(now); wait > 0 {
				return Observation{}, wait, false
			}
		}
		if p.queue = p.queue[1:]; len(p.queue) == 0 {
			p.queue = nil
		}
		if t == nil {
			continue
		}
		t.queued = false
		if t.fresh {
			t.fresh, t.next = false, now.Add(partialEvery)
			return t.latest, 0, true
		}
	}
	return Observation{}, 0, false
}

// get returns the current text of a call.
func (p *partials) get(org callwright.OrgID, id string) (conversation.Partial, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.calls[id]; t != nil && t.current && t.latest.Call.Org == org {
		return t.latest.Partial, true
	}
	return conversation.Partial{}, false
}

// Partial returns the words that the other side of a call is saying, as far as they are recognized. It returns false if there are none, if
// the call is absent, and for a call that runs on another node.
func (s *Service) Partial(org callwright.OrgID, id string) (conversation.Partial, bool) {
	return s.observed.partials.get(org, id)
}

// Partial implements conversation.PartialObserver. The text is not stored.
func (b *recordWriter) Partial(p conversation.Partial) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	p.Text = callwright.Clip(writable(p.Text), maxPartial)
	b.observed.partials.set(Observation{What: ObservedPartial, At: b.clock.Now(), Call: b.now, Partial: p})
}
