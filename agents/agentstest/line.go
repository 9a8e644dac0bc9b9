package agentstest

import (
	"context"
	"slices"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
)

var _ call.Line = (*Line)(nil)

// Callee decides how a dialed phone behaves: it may call ring, and gives the phone that answers or an *call.HangupReason.
// ctx ends when the caller gives up or the ringing time is over.
type Callee func(ctx context.Context, d call.DialRequest, ring func()) (*Phone, error)

// Line is a telephone network whose far ends are Phones. Dialed numbers ring and answer at once, unless Script says
// otherwise.
type Line struct {
	mu       sync.Mutex
	callee   Callee
	dials    []call.DialRequest
	answered chan *Phone
	incoming chan *Incoming
	closed   chan struct{}
	close    sync.Once
}

// NewLine makes a line whose phones have the config.
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

// Script makes every phone that is dialed from now on behave as the callee says.
func (l *Line) Script(c Callee) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.callee = c
}

// Refuse returns a callee that rings and then refuses every call, such as with CauseBusy and 486.
func Refuse(cause call.Cause, sipCode int) Callee {
	return func(_ context.Context, _ call.DialRequest, ring func()) (*Phone, error) {
		ring()
		return nil, &call.HangupReason{Cause: cause, SIPCode: sipCode, ByPeer: true}
	}
}

// NoAnswer rings until the caller gives up.
func NoAnswer(ctx context.Context, _ call.DialRequest, ring func()) (*Phone, error) {
	ring()
	<-ctx.Done()
	return nil, &call.HangupReason{Cause: call.CauseNoAnswer, SIPCode: terminated}
}

// terminated is the SIP code of a call that is given up before its answer.
const terminated = 487

// Dial lets the callee decide. A call that is given up ends with CauseCancelled, one that rings too long with
// CauseNoAnswer.
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

// Answered waits for the phone of the next dialed call that was answered.
func (l *Line) Answered(ctx context.Context) (*Phone, error) {
	select {
	case p := <-l.answered:
		return p, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Call makes a phone call in; Accept returns the call.
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

// Incoming is an incoming call as its phone sees it, and the call.IncomingCall that Accept returns.
type Incoming struct {
	offer   call.CallerInfo
	phone   *Phone
	once    sync.Once
	decided chan struct{}
	ending  *call.HangupReason // why it did not come about; nil: answered
}

// Caller returns who calls whom.
func (in *Incoming) Caller() call.CallerInfo { return in.offer }

// Answer takes the call; an *call.HangupReason when it was given up or refused before.
func (in *Incoming) Answer(context.Context) (call.Leg, error) {
	in.decide(nil)
	if in.ending != nil {
		return nil, in.ending
	}
	return in.phone.Leg(), nil
}

// rejections are the SIP codes of the causes that a call may be refused with.
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

// GiveUp hangs the caller up before the answer.
func (in *Incoming) GiveUp() {
	in.decide(&call.HangupReason{Cause: call.CauseCancelled, SIPCode: terminated, ByPeer: true})
}

// Phone waits for the answer, and gives the phone in the call, or the *call.HangupReason of a call that was not taken.
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

// decide takes the first decision; later ones change nothing.
func (in *Incoming) decide(e *call.HangupReason) {
	in.once.Do(func() {
		in.ending = e
		close(in.decided)
	})
}
