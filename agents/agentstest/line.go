package agentstest

import (
	"context"
	"slices"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
)

var _ call.Line = (*Line)(nil)

// Callee implements the behavior of a dialed phone. It may call ring, and returns the phone that answers or a *call.HangupReason. ctx ends
// when the caller gives up or the ringing time is over.
type Callee func(ctx context.Context, d call.DialRequest, ring func()) (*Phone, error)

// Line is a call.Line whose far ends are Phones. Dialed numbers ring and answer immediately, unless Script sets another behavior.
type Line struct {
	mu       sync.Mutex
	callee   Callee
	dials    []call.DialRequest
	answered chan *Phone
	incoming chan *Incoming
	closed   chan struct{}
	close    sync.Once
}

// NewLine returns a line whose dialed phones ring, answer immediately, and use config.
func NewLine(config PhoneConfig) *Line {
	return &Line{
		callee: func(_ context.Context, _ call.DialRequest, ring func()) (*Phone, error) {
			ring()
			return NewPhone(config), nil
		},
		answered: make(chan *Phone, 1024),
		incoming: make(chan *Incoming, 1024),
		closed:   make(chan struct{}),
	}
}

// Script sets the behavior of all phones that are dialed from now on.
func (l *Line) Script(c Callee) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.callee = c
}

// Refuse returns a Callee that rings and then refuses the call with the given cause and SIP code, for example CauseBusy and 486.
func Refuse(cause call.Cause, sipCode int) Callee {
	return func(_ context.Context, _ call.DialRequest, ring func()) (*Phone, error) {
		ring()
		return nil, &call.HangupReason{Cause: cause, SIPCode: sipCode, ByPeer: true}
	}
}

// NoAnswer is a Callee that rings until the caller gives up or the ringing time is over.
func NoAnswer(ctx context.Context, _ call.DialRequest, ring func()) (*Phone, error) {
	ring()
	<-ctx.Done()
	return nil, &call.HangupReason{Cause: call.CauseNoAnswer, SIPCode: terminated}
}

// terminated is the SIP code of a call that the caller gives up before the answer (487 Request Terminated).
const terminated = 487

// Dial runs the Callee, and returns the leg of the answered call or the Callee's error. The Callee's ctx ends after the ringing time
// d.Ring, unless d.Ring is 0. If ctx ends first, the call ends with CauseCancelled.
func (l *Line) Dial(ctx context.Context, d call.DialRequest, progress func(call.Progress)) (call.Leg, error) {
	l.mu.Lock()
	callee := l.callee
	l.dials = append(l.dials, d)
	l.mu.Unlock()

	ringing, cancel := ctx, context.CancelFunc(func() {})
	if d.Ring > 0 {
		ringing, cancel = context.WithTimeout(ctx, d.Ring)
	}
	defer cancel()
	var once sync.Once
	phone, err := callee(ringing, d, func() {
		if progress != nil {
			once.Do(func() { progress(call.ProgressRinging) })
		}
	})
	switch {
	case ctx.Err() != nil:
		if phone != nil {
			phone.end(call.HangupReason{Cause: call.CauseCancelled})
		}
		return nil, &call.HangupReason{Cause: call.CauseCancelled, SIPCode: terminated}
	case err != nil:
		return nil, err
	}
	l.answered <- phone
	return phone.Leg(), nil
}

// Dials returns the requests of all calls that were dialed so far, in order.
func (l *Line) Dials() []call.DialRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.dials)
}

// Answered waits for the next dialed call that is answered, and returns its phone.
func (l *Line) Answered(ctx context.Context) (*Phone, error) {
	select {
	case p := <-l.answered:
		return p, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Call places an incoming call from a phone with the given config. Accept returns the call.
func (l *Line) Call(offer call.CallerInfo, config PhoneConfig) *Incoming {
	in := &Incoming{offer: offer, phone: NewPhone(config), decided: make(chan struct{})}
	l.incoming <- in
	return in
}

// Accept waits for the next incoming call. It returns CodeUnavailable after Close.
func (l *Line) Accept(ctx context.Context) (call.IncomingCall, error) {
	select {
	case in := <-l.incoming:
		return in, nil
	case <-l.closed:
		return nil, callwright.ErrUnavailable
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close makes Accept return CodeUnavailable. It may be called more than once.
func (l *Line) Close() { l.close.Do(func() { close(l.closed) }) }

// Incoming is the caller's side of an incoming call. It also implements the call.IncomingCall that Accept returns.
type Incoming struct {
	offer   call.CallerInfo
	phone   *Phone
	once    sync.Once
	decided chan struct{}
	ending  *call.HangupReason // reason why the call was not answered; nil after an answer
}

// Caller returns the CallerInfo that Line.Call was given.
func (in *Incoming) Caller() call.CallerInfo { return in.offer }

// Answer answers the call and returns its leg. If the call was given up or rejected before, it returns the *call.HangupReason.
func (in *Incoming) Answer(context.Context) (call.Leg, error) {
	in.decide(nil)
	if in.ending != nil {
		return nil, in.ending
	}
	return in.phone.Leg(), nil
}

// rejections maps the causes that Reject accepts to SIP codes.
var rejections = map[call.Cause]int{
	call.CauseBusy: 486, call.CauseRejected: 603, call.CauseUnavailable: 480, call.CauseOverload: 503, call.CauseInternal: 503,
}

// Reject refuses the call, unless the call was already answered or given up. It returns CodeBadRequest for a cause that has no SIP code in
// rejections.
func (in *Incoming) Reject(cause call.Cause) error {
	code, ok := rejections[cause]
	if !ok {
		return callwright.Invalid("cause", "must be a cause that can reject a call, not %q", cause)
	}
	in.decide(&call.HangupReason{Cause: cause, SIPCode: code})
	return nil
}

// GiveUp cancels the call on behalf of the caller. It changes nothing after an answer or a rejection.
func (in *Incoming) GiveUp() {
	in.decide(&call.HangupReason{Cause: call.CauseCancelled, SIPCode: terminated, ByPeer: true})
}

// Phone waits until the call is decided. It returns the phone of an answered call, or the *call.HangupReason of another call.
func (in *Incoming) Phone(ctx context.Context) (*Phone, error) {
	select {
	case <-in.decided:
		if in.ending != nil {
			return nil, in.ending
		}
		return in.phone, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// decide stores the first decision and ignores later decisions.
func (in *Incoming) decide(e *call.HangupReason) {
	in.once.Do(func() {
		in.ending = e
		close(in.decided)
	})
}
