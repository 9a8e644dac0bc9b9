package siptest

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/registration"
	"github.com/callwright/callwright/sip/testcall"
)

// lineLimit is the time limit of one step of a line under test.
const lineLimit = 30 * time.Second

// Registrar is a registration.Line and the server with which it registers.
type Registrar struct {
	Line    registration.Line
	Binding registration.Binding // a binding with the server; the suite sets Lost
	// Answer waits for the next REGISTER, including a REGISTER that removes the binding, and answers it with a status. If the status is a
	// success, the binding expires after one minute.
	Answer func(status int)
	// Drop closes the server's side of the binding's connection.
	Drop func()
}

// RunRegistrationLine tests a registration.Line. newRegistrar returns a new server for each test.
func RunRegistrationLine(t *testing.T, newRegistrar func(t *testing.T) Registrar) {
	t.Helper()
	tests := map[string]func(*testing.T, Registrar){
		"registers and takes the binding back": registersAndBack,
		"reports a refusal":                    reportsRefusal,
		"reports that no response came":        reportsSilence,
		"reports a lost connection once":       reportsLoss,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newRegistrar(t))
		})
	}
}

// register calls Register, answers its REGISTER with status, and returns the result.
func (r Registrar) register(t *testing.T, status int, lost func()) (granted time.Duration, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), lineLimit)
	defer cancel()
	b := r.Binding
	b.Lost = lost
	var registering sync.WaitGroup
	registering.Go(func() { granted, err = r.Line.Register(ctx, b) })
	r.Answer(status)
	registering.Wait()
	return granted, err
}

func (r Registrar) unregister(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), lineLimit)
	defer cancel()
	var leaving sync.WaitGroup
	leaving.Go(func() { r.Line.Unregister(ctx, r.Binding.TrunkID) })
	r.Answer(200)
	leaving.Wait()
}

func registersAndBack(t *testing.T, r Registrar) {
	var lost atomic.Int64
	for range 2 { // a removed binding can be registered again
		for range 2 { // the second REGISTER refreshes the binding
			if granted, err := r.register(t, 200, func() { lost.Add(1) }); err != nil || granted != time.Minute {
				t.Fatalf("granted %v, %v", granted, err)
			}
		}
		r.unregister(t)
	}
	r.Line.Unregister(t.Context(), r.Binding.TrunkID) // without a binding, Unregister does nothing
	if n := lost.Load(); n != 0 {
		t.Errorf("%d connections are reported as lost", n)
	}
}

func reportsRefusal(t *testing.T, r Registrar) {
	for _, status := range []int{403, 503} {
		_, err := r.register(t, status, func() {})
		if refusal, ok := errors.AsType[*registration.Refusal](err); !ok || refusal.Code != status || refusal.Error() == "" {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func reportsSilence(t *testing.T, r Registrar) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := r.Binding
	b.Lost = func() {}
	_, err := r.Line.Register(ctx, b)
	if _, ok := errors.AsType[*registration.Refusal](err); ok || err == nil {
		t.Errorf("got %v", err)
	}
}

func reportsLoss(t *testing.T, r Registrar) {
	lost := make(chan struct{}, 10)
	if _, err := r.register(t, 200, func() { lost <- struct{}{} }); err != nil {
		t.Fatal(err)
	}
	r.Drop()
	select {
	case <-lost:
	case <-time.After(lineLimit):
		t.Fatal("nobody is told that the connection is lost")
	}
	if granted, err := r.register(t, 200, func() { lost <- struct{}{} }); err != nil || granted != time.Minute {
		t.Errorf("after the loss: granted %v, %v", granted, err)
	}
	if len(lost) > 0 {
		t.Error("a connection is reported as lost twice")
	}
}

// Callee is a testcall.Line and the server that it calls.
type Callee struct {
	Line      testcall.Line
	Placement testcall.Placement // places a call to the server
	// Answer waits for the next INVITE and answers it with a final status. A success contains an SDP answer.
	Answer func(status int)
	// Ring waits for the next INVITE and answers it with 180 (Ringing).
	Ring func()
	// Canceled waits until the ringing call is canceled.
	Canceled func()
	// HangUp sends a BYE from the server. Ended waits for the caller's BYE and answers it.
	HangUp, Ended func()
}

// RunTestCallLine tests a testcall.Line and its Legs. newCallee returns a new server for each test.
func RunTestCallLine(t *testing.T, newCallee func(t *testing.T) Callee) {
	t.Helper()
	tests := map[string]func(*testing.T, Callee){
		"hangs up an answered call": hangsUp,
		"notices the peer's BYE":    noticesBye,
		"reports why a call failed": reportsFailure,
		"gives a ringing call up":   givesUp,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newCallee(t))
		})
	}
}

// steps records the SIP messages of a call that the line reports to its observer.
type steps struct {
	mu   sync.Mutex
	seen []ladder.Event
}

func (s *steps) observe(e ladder.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, e)
}

func (s *steps) count(method string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.seen {
		if e.Method == method && e.Sent && e.Status == 0 && !e.Retransmit {
			n++
		}
	}
	return n
}

// place places a call while the function server plays the callee. It returns the results of Place and the observed messages.
func (c Callee) place(ctx context.Context, t *testing.T, server func()) (testcall.Leg, *steps, error) {
	t.Helper()
	var leg testcall.Leg
	var err error
	told := &steps{}
	var placing sync.WaitGroup
	placing.Go(func() { leg, err = c.Line.Place(ctx, c.Placement, told.observe) })
	server()
	placing.Wait()
	return leg, told, err
}

// answered places a call, answers it with 200, and returns its leg.
func (c Callee) answered(t *testing.T) testcall.Leg {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), lineLimit)
	t.Cleanup(cancel)
	leg, told, err := c.place(ctx, t, func() { c.Answer(200) })
	if err != nil {
		t.Fatal(err)
	}
	if n := told.count("INVITE"); n != 1 {
		t.Errorf("the observer was told of %d INVITEs", n)
	}
	if info := leg.Info(); info.Codec == "" || info.SRTPSuite == "" || info.TLS == "" || leg.Rate() < 8000 {
		t.Errorf("carried by %+v at %d Hz", info, leg.Rate())
	}
	return leg
}

// wantOver checks that a call ends within lineLimit, that Read then returns io.EOF after the remaining audio, and that Hangup returns no
// error.
func wantOver(t *testing.T, leg testcall.Leg) {
	t.Helper()
	select {
	case <-leg.Done():
	case <-time.After(lineLimit):
		t.Fatal("Done is not closed")
	}
	ctx, cancel := context.WithTimeout(t.Context(), lineLimit)
	defer cancel()
	for {
		if _, err := leg.Read(ctx); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("reading after the end: %v", err)
		}
	}
	if err := leg.Hangup(ctx); err != nil {
		t.Errorf("ending a call that has ended: %v", err)
	}
}

func hangsUp(t *testing.T, c Callee) {
	leg := c.answered(t)
	if err := leg.Write(t.Context(), make([]int16, leg.Rate()/50)); err != nil {
		t.Errorf("write: %v", err)
	}
	if n := leg.Queued(); n < 0 || n > leg.Rate()/50 {
		t.Errorf("%d samples are queued", n)
	}
	var ending sync.WaitGroup
	ending.Go(func() {
		if err := leg.Hangup(t.Context()); err != nil {
			t.Errorf("hang up: %v", err)
		}
	})
	c.Ended()
	ending.Wait()
	wantOver(t, leg)
}

func noticesBye(t *testing.T, c Callee) {
	leg := c.answered(t)
	c.HangUp()
	wantOver(t, leg)
}

func reportsFailure(t *testing.T, c Callee) {
	for status, want := range map[int]testcall.Status{486: testcall.Busy, 480: testcall.NoAnswer, 403: testcall.Failed} {
		ctx, cancel := context.WithTimeout(t.Context(), lineLimit)
		_, _, err := c.place(ctx, t, func() { c.Answer(status) })
		cancel()
		if f, ok := errors.AsType[*testcall.Failure](err); !ok || f.Status != want || f.Code != status || f.Reason == "" {
			t.Errorf("%d gave %+v", status, err)
		}
	}
}

func givesUp(t *testing.T, c Callee) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, _, err := c.place(ctx, t, func() {
		c.Ring()
		cancel()
		c.Canceled()
	})
	if err == nil {
		t.Error("a call that was given up has no error")
	}
}
