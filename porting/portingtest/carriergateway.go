package portingtest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// Fault is a fault in the processing or the answer of a request to a carrier.
type Fault string

// These constants are the faults of a request. They differ in whether the carrier processes the request, and in its answer.
const (
	NoFault      Fault = ""
	Unavailable  Fault = "unavailable"  // not processed; answered with 503
	Limited      Fault = "limited"      // not processed; answered with 429
	Unauthorized Fault = "unauthorized" // not processed; answered with 401, as after a password change
	Garbled      Fault = "garbled"      // not processed; answered with 200 and the HTML page of a proxy
	FailsLate    Fault = "fails late"   // processed; answered with 500
	LosesReply   Fault = "loses reply"  // processed; connection closed without an answer
	CutsReply    Fault = "cuts reply"   // processed; connection closed in the middle of the answer
	Hangs        Fault = "hangs"        // not processed; not answered until the client gives up
	HangsLate    Fault = "hangs late"   // processed; not answered until the client gives up
)

// Faults returns every Fault except NoFault.
func Faults() []Fault {
	return []Fault{Unavailable, Limited, Unauthorized, Garbled, FailsLate, LosesReply, CutsReply, Hangs, HangsLate}
}

// Serve calls process for a request, unless the request's fault prevents it, and returns the fault. It returns LosesReply also for the
// answer that CarrierScript.LosesAnswer loses. The API that calls Serve must answer the request as the fault says.
func (c *Carrier) Serve(process func()) Fault {
	fault := c.fault()
	switch fault {
	case Unavailable, Limited, Unauthorized, Garbled, Hangs:
	default:
		process()
	}
	if (fault == Hangs || fault == HangsLate) && c.script.hanging != nil {
		c.script.hanging()
	}
	if fault == NoFault && c.losesAnswer() {
		return LosesReply
	}
	return fault
}

func (c *Carrier) fault() Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.script.Fault == nil {
		return NoFault
	}
	return c.script.Fault()
}

// losesAnswer reports whether the current answer is lost because of CarrierScript.LosesAnswer. It returns true only for the first answer
// after an order was created.
func (c *Carrier) losesAnswer() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.script.LosesAnswer || c.lost || len(c.orders) == 0 {
		return false
	}
	c.lost = true
	return true
}

// CarrierGateway constructs gateways to scripted carriers for RunCarrierGateway.
type CarrierGateway struct {
	// New starts an API of the carrier, and returns a gateway to it. It must stop the API with t.Cleanup. The API must process each request
	// with Carrier.Serve, as the Handler of adapters/portgateway/carrierhttp does.
	New func(t testing.TB, c *Carrier) porting.Gateway
	// Idempotent is copied to CarrierScript.Idempotent.
	Idempotent bool
	// Event returns the message with which the carrier sends an event. It is nil if the gateway does not implement porting.EventReader.
	Event func(e CarrierEvent) GatewayEvent
}

// RunCarrierGateway tests a gateway with a scripted carrier. It runs RunGateway first.
//
// It then tests each of the Faults on each of the first eight requests that Submit, Cancel and Snapshot send. The method must either
// overcome the fault, for example by a retry, or return an error that is neither a *porting.Refusal nor CodeNotFound. The next call must
// succeed, and the carrier must have exactly one order.
func RunCarrierGateway(t *testing.T, h CarrierGateway) {
	t.Helper()
	RunGateway(t, h.harness)
	for _, call := range gatewayCalls {
		for _, fault := range Faults() {
			t.Run(call.name+": "+string(fault), func(t *testing.T) {
				t.Parallel()
				h.testFault(t, t, call, fault)
			})
		}
	}
}

// with returns a harness of a gateway whose carrier follows a script, and the carrier.
func (h CarrierGateway) with(t testing.TB, s CarrierScript) (GatewayHarness, *Carrier) {
	t.Helper()
	s.Idempotent = h.Idempotent
	carrier := NewCarrier(s)
	g := GatewayHarness{
		Gateway: h.New(t, carrier), Numbers: []callwright.PhoneNumber{"+14155550100", "+14155550101"},
		SignedAt: time.Date(2030, time.May, 20, 12, 0, 0, 0, time.UTC), Step: carrier.Step, Orders: func() int { return len(carrier.Orders()) },
	}
	if h.Event != nil {
		g.Events = func(o porting.Order) (sent []GatewayEvent) {
			for _, e := range carrier.Events(o.Ref) {
				sent = append(sent, h.Event(e))
			}
			return sent
		}
	}
	return g, carrier
}

func (h CarrierGateway) harness(t *testing.T, c GatewayCase) GatewayHarness {
	t.Helper()
	g, _ := h.with(t, ScriptOf(c))
	return g
}

// gatewayCall is a method of a gateway that sends requests to the carrier.
type gatewayCall struct {
	name string
	call func(ctx context.Context, g porting.Gateway, s porting.Submission) error
}

const submission, cancellation = "a submission", "a cancellation"

var gatewayCalls = []gatewayCall{
	{submission, func(ctx context.Context, g porting.Gateway, s porting.Submission) error {
		_, err := g.Submit(ctx, s)
		return err
	}},
	{cancellation, func(ctx context.Context, g porting.Gateway, s porting.Submission) error {
		return g.Cancel(ctx, s.Order)
	}},
	{"a snapshot", func(ctx context.Context, g porting.Gateway, s porting.Submission) error {
		_, err := g.Snapshot(ctx, s.Order)
		return err
	}},
}

// maxGatewayRequests is the maximum number of requests of a call that are tested with a fault.
const maxGatewayRequests = 8

// testFault repeats a call with the fault in its first request, its second, and so on, until the call sends no further request. It tests at
// most maxGatewayRequests requests.
func (h CarrierGateway) testFault(servers testing.TB, t reporter, call gatewayCall, fault Fault) {
	t.Helper()
	for nth := range maxGatewayRequests {
		if !h.survivesOne(servers, t, call, fault, nth) {
			return
		}
	}
}

// survivesOne tests a call with the fault in its nth request, counted from 0. It returns false if the call sends no such request.
func (h CarrierGateway) survivesOne(servers testing.TB, t reporter, call gatewayCall, fault Fault, nth int) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var begun, met atomic.Bool
	seen := 0
	harness, carrier := h.with(servers, CarrierScript{
		hanging: cancel, // the caller gives up as soon as a request hangs
		Fault: func() Fault {
			if !begun.Load() || met.Load() {
				return NoFault
			}
			if seen++; seen <= nth {
				return NoFault
			}
			met.Store(true)
			return fault
		},
	})
	g := gateway{harness}
	s := g.submission("r1:1")
	if call.name != submission {
		s.Order = g.submit(t, "r1:1")
	}
	if call.name == cancellation {
		s.CancelAskedAt = s.SignedAt
	}
	begun.Store(true)
	err := call.call(ctx, g.Gateway, s)
	if !met.Load() {
		return false
	}
	_, refused := errors.AsType[*porting.Refusal](err)
	if refused || errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("request %d: got %v, want an error that asks for another attempt", nth+1, err)
	}
	if err != nil {
		err = call.call(t.Context(), g.Gateway, s)
	}
	if err != nil {
		t.Errorf("request %d: the call after the fault gave %v", nth+1, err)
	}
	s.Order = g.submit(t, "r1:1")
	g.wantOrders(t, 1)
	if o, err := carrier.Order(s.Ref); err != nil || call.name == cancellation && !o.CancelAsked {
		t.Errorf("request %d: the carrier has %+v, %v", nth+1, o, err)
	}
	return true
}
