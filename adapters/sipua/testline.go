package sipua

import (
	"cmp"
	"context"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/internal/leg"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/sdp"
	"github.com/callwright/callwright/sip/testcall"
)

// TestLine returns the line for test calls. Test calls are ordinary outbound calls, so that the observer receives them, too.
func (u *UA) TestLine() testcall.Line { return testLine{ua: u} }

type testLine struct{ ua *UA }

// Place calls p.To over the trunk of p.Number, or p.Number itself if p.To is empty. observe receives the steps of all attempts until the
// call ends. Every error is a *testcall.Failure.
func (l testLine) Place(
	ctx context.Context, p testcall.Placement, observe func(ladder.Event),
) (testcall.Leg, error) {
	o, err := l.ua.newOutbound(ctx, call.DialRequest{CallID: p.ID, Org: p.Org, From: p.Number, To: cmp.Or(p.To, p.Number), Ring: p.Ring})
	if err != nil {
		return nil, &testcall.Failure{Status: testcall.Failed, Reason: callwright.MessageOf(err)}
	}
	w := &watch{observe: observe}
	o.observe = w.observeEvent
	answered, ending := o.run(ctx)
	if ending != nil {
		w.stop()
		return nil, failureOf(ending)
	}
	t := &testLeg{Leg: answered, done: make(chan struct{})}
	go func() {
		<-answered.Done()
		w.stop()
		close(t.done)
	}()
	return t, nil
}

func failureOf(e *call.HangupReason) *testcall.Failure {
	f := &testcall.Failure{Status: testcall.Failed, Code: e.SIPCode, Reason: e.Error()}
	switch {
	case e.Cause == call.CauseBusy:
		f.Status = testcall.Busy
	case e.Cause == call.CauseNoAnswer:
		f.Status = testcall.NoAnswer
	case e.Cause == call.CauseUnreachable && !e.ByPeer:
		f.Code = 0 // without a response the code of the ending has no meaning
	}
	return f
}

// watch passes the steps of a test call to the function observe, until the method stop is called. After the call, abandoned legs may
// produce further steps. The function must not receive these.
type watch struct {
	mu      sync.Mutex
	observe func(ladder.Event)
}

func (w *watch) observeEvent(e ladder.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.observe != nil {
		w.observe(e)
	}
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.observe = nil
}

// testLeg adapts the leg of an answered test call to testcall.Leg.
type testLeg struct {
	*leg.Leg

	done chan struct{} // closed when observe has received all steps
}

// Info describes the media and the connection of the call.
func (l *testLeg) Info() testcall.Carriage {
	info := l.Leg.Info()
	return testcall.Carriage{Codec: info.Codec, SRTPSuite: sdp.Suite, TLS: info.TLS, Peer: info.Peer}
}

// Read waits for the next 20 ms of the peer's audio. It returns io.EOF after the end of the call.
func (l *testLeg) Read(ctx context.Context) ([]int16, error) {
	f, err := l.Leg.Read(ctx)
	return f.In, err
}

// Hangup ends the call and waits until observe has received all steps, or ctx ends.
func (l *testLeg) Hangup(ctx context.Context) error {
	if err := l.Leg.Hangup(ctx); err != nil {
		return err
	}
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Done returns a channel that is closed when the call has ended and observe has received all of its steps.
func (l *testLeg) Done() <-chan struct{} { return l.done }
