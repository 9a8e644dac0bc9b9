package sipua

import (
	"context"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/sdp"
	"github.com/callwright/callwright/sip/testcall"
)

// TestLine gives the line for test calls. They go the way of all calls that go out, the journal included.
func (u *UA) TestLine() testcall.Line { return testLine{ua: u} }

type testLine struct{ ua *UA }

// Place calls a number over its own trunk.
func (l testLine) Place(
	ctx context.Context, p testcall.Placement, observe func(ladder.Event),
) (testcall.Leg, error) {
	a, err := l.ua.attempt(ctx, call.Dial{CallID: p.ID, Org: p.Org, From: p.Number, To: p.Number, Ring: p.Ring})
	if err != nil {
		return nil, &testcall.Failure{Status: testcall.Failed, Reason: callwright.MessageOf(err)}
	}
	w := &watch{observe: observe}
	a.observe = w.see
	c, ending := a.run(ctx)
	if ending != nil {
		w.stop()
		return nil, failureOf(ending)
	}
	t := &testLeg{leg: leg{c: c}, done: make(chan struct{})}
	go func() {
		<-c.done
		w.stop()
		close(t.done)
	}()
	return t, nil
}

func failureOf(e *call.Ending) *testcall.Failure {
	f := &testcall.Failure{Status: testcall.Failed, Code: e.SIPCode, Reason: e.Error()}
	switch {
	case e.Cause == call.CauseBusy:
		f.Status = testcall.Busy
	case e.Cause == call.CauseNoAnswer:
		f.Status = testcall.NoAnswer
	case e.Cause == call.CauseUnreachable && !e.ByPeer:
		f.Code = 0 // the one in the ending stands for no answer
	}
	return f
}

// watch passes the steps of a test call's attempts on, until the call is over: an attempt that was given up goes on for
// a while beside the next one, and after all of them.
type watch struct {
	mu      sync.Mutex
	observe func(ladder.Event)
}

func (w *watch) see(e ladder.Event) {
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

// testLeg is an answered test call.
type testLeg struct {
	leg

	done chan struct{} // closed when nobody is told of the call any more
}

// Info is how the call is carried.
func (l *testLeg) Info() testcall.Carriage {
	info := l.leg.Info()
	return testcall.Carriage{Codec: info.Codec, SRTPSuite: sdp.Suite, TLS: info.TLS, Peer: info.Peer}
}

// Read waits for the next 20 ms of the peer's audio.
func (l *testLeg) Read(ctx context.Context) ([]int16, error) {
	f, err := l.leg.Read(ctx)
	return f.In, err
}

// Hangup ends the call and waits until it has ended.
func (l *testLeg) Hangup(ctx context.Context) error {
	if err := l.leg.Hangup(ctx); err != nil {
		return err
	}
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Done is closed when the call is over.
func (l *testLeg) Done() <-chan struct{} { return l.done }
