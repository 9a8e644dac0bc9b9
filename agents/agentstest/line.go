package agentstest

import (
	"context"
	"slices"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
)

var _ call.Line = (*Line)(nil)

// Callee is the behaviour of a dialed phone: it may call ring, and returns the phone that answers or a *call.HangupReason. ctx ends
// when the caller gives up or the ringing time is over.
type Callee func(ctx context.Context, d call.DialRequest, ring func()) (*Phone, error)

// Line is a telephone network whose far ends are Phones. Dialed numbers ring and answer immediately, unless Script changes it.
type Line struct {
	mu       sync.Mutex
	callee   Callee
	dials    []call.DialRequest
	answered chan *Phone
	incoming chan *Incoming
	closed   chan struct{}
	close    sync.Once
}

// NewLine returns a line whose phones have the config.
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

// Script sets the callee of all later dialed phones.
func (l *Line) Script(c Callee) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.callee = c
}

// Refuse returns a callee that rings and then refuses every call, for example with CauseBusy and 486.
func Refuse(cause call.Cause, sipCode int) Callee {
	return func(_ context.Context, _ call.DialRequest, ring func()) (*Phone, error) {
		ring()
		return nil, &call.HangupReason{Cause: cause, SIPCode: sipCode, ByPeer: true}
	}
}

// NoAnswer is a callee that rings until the caller gives up.
func NoAnswer(ctx context.Context, _ call.DialRequest, ring func()) (*Phone, error) {
	ring()
	<-ctx.Done()
	return nil, &call.HangupReason{Cause: call.CauseNoAnswer, SIPCode: terminated}
}

// terminated is the SIP code of a call that is given up before its answer.
const terminated = 487

// Dial runs the callee. A call that is given up ends with CauseCancelled; a call that rings too long ends with CauseNoAnswer.
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

// Dials returns all calls that were placed so far.
func (l *Line) Dials() []call.DialRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.dials)
}

// Answered waits for the phone of the next answered call that was dialed.
func (l *Line) Answered(ctx context.Context) (*Phone, error) {
	select {
	case p := <-l.answered:
		return p, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Call makes an incoming call; Accept returns the call.
func (l *Line) Call(offer call.CallerInfo, config PhoneConfig) *Incoming {
	in := &Incoming{offer: offer, phone: NewPhone(config), decided: make(chan struct{})}
	l.incoming <- in
	return in
}

// Accept waits for the next Call.
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

// Close ends Accept.
func (l *Line) Close() { l.close.Do(func() { close(l.closed) }) }

// Incoming is an incoming call on the phone's side. It is also the call.IncomingCall that Accept returns.
type Incoming struct {
	offer   call.CallerInfo
	phone   *Phone
	once    sync.Once
	decided chan struct{}
	ending  *call.HangupReason // reason if the call was not answered; nil: answered
}

// Caller returns the caller and the callee.
func (in *Incoming) Caller() call.CallerInfo { return in.offer }

// Answer takes the call; a *call.HangupReason when it was given up or refused before.
func (in *Incoming) Answer(context.Context) (call.Leg, error) {
	in.decide(nil)
	if in.ending != nil {
		return nil, in.ending
	}
	return in.phone.Leg(), nil
}

// rejections maps the causes of refusals to SIP codes.
var rejections = map[call.Cause]int{
	call.CauseBusy: 486, call.CauseRejected: 603, call.CauseUnavailable: 480, call.CauseOverload: 503, call.CauseInternal: 503,
}

// Reject refuses the call. A cause without a SIP code is CodeBadRequest.
func (in *Incoming) Reject(cause call.Cause) error {
	code, ok := rejections[cause]
	if !ok {
		return callwright.Invalid("cause", "a call can't be refused with %q", cause)
	}
	in.decide(&call.HangupReason{Cause: cause, SIPCode: code})
	return nil
}

// GiveUp ends the call by the caller before the answer.
func (in *Incoming) GiveUp() {
	in.decide(&call.HangupReason{Cause: call.CauseCancelled, SIPCode: terminated, ByPeer: true})
}

// Phone waits for the answer, and returns the phone in the call, or the *call.HangupReason of a call that was not answered.
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

// decide stores the first decision; later ones change nothing.
func (in *Incoming) decide(e *call.HangupReason) {
	in.once.Do(func() {
		in.ending = e
		close(in.decided)
	})
}
