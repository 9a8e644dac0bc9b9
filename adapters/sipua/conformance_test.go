package sipua_test

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/adapters/codec/g711"
	"github.com/callwright/callwright/adapters/codec/g722"
	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/sip/uri"
)

// talking returns a user agent with real media that prefers the given codec.
func talking(t *testing.T, preferred string) *agent {
	t.Helper()
	set := codec.Set{g711.PCMU(), g711.PCMA(), g722.Engine()}
	media, err := rtpmedia.New(rtpmedia.Config{IP: netip.MustParseAddr("127.0.0.1"), Codecs: set.New})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n := media.Counters().Sessions; n != 0 {
			t.Errorf("%d media sessions are left", n)
		}
	})
	a := newAgent(t, func(c *sipua.Config) { c.Media = media })
	a.routes.route.Codecs = []string{preferred, "PCMA"}
	return a
}

// farAgent is the peer of the user agent under test. It handles calls according to its behavior.
type farAgent struct {
	*agent
	behavior atomic.Int32
	answered chan agentstest.FarLeg
}

// agents returns two user agents that call each other. The second one handles its calls according to its behavior.
func agents(t *testing.T, preferred string) (*agent, *farAgent) {
	t.Helper()
	near, far := talking(t, preferred), &farAgent{agent: talking(t, preferred), answered: make(chan agentstest.FarLeg, 100)}
	near.callsTo(t, far.Addr().String())
	far.callsTo(t, near.Addr().String())
	ctx, cancel := context.WithCancel(context.Background())
	var taking sync.WaitGroup
	t.Cleanup(taking.Wait)
	t.Cleanup(cancel)
	taking.Go(func() {
		for {
			in, err := far.Accept(ctx)
			if err != nil {
				return
			}
			taking.Go(func() { far.take(ctx, in) })
		}
	})
	return near, far
}

func (f *farAgent) take(ctx context.Context, in call.IncomingCall) {
	switch agentstest.FarBehavior(f.behavior.Load()) {
	case agentstest.FarIsBusy:
		_ = in.Reject(call.CauseBusy)
	case agentstest.FarAnswers:
		if leg, err := in.Answer(ctx); err == nil {
			f.answered <- newFarLeg(leg)
		}
	case agentstest.FarRings:
	}
}

func (f *farAgent) Behave(b agentstest.FarBehavior) { f.behavior.Store(int32(b)) }

func (f *farAgent) Ringing() int { return f.Calls() }

func (f *farAgent) Answered(ctx context.Context) (agentstest.FarLeg, error) {
	select {
	case l := <-f.answered:
		return l, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *farAgent) Call(ctx context.Context, headers map[string]string) (agentstest.FarLeg, error) {
	leg, err := f.Dial(ctx, call.DialRequest{Org: org, From: bob, To: alice, Headers: headers}, nil)
	if err != nil {
		return nil, err
	}
	return newFarLeg(leg), nil
}

// farLeg is the peer's leg of a call. It records the received audio and digits.
type farLeg struct {
	leg    call.Leg
	writer sync.Mutex

	mu      sync.Mutex
	played  []int16
	pressed []byte
}

func newFarLeg(leg call.Leg) *farLeg {
	f := &farLeg{leg: leg}
	go func() {
		for {
			frame, err := leg.Read(context.Background())
			if err != nil {
				return
			}
			f.mu.Lock()
			f.played = append(f.played, frame.In...)
			if frame.Digit != 0 {
				f.pressed = append(f.pressed, frame.Digit)
			}
			f.mu.Unlock()
		}
	}()
	return f
}

func (f *farLeg) Play(samples []int16) {
	go func() {
		f.writer.Lock()
		defer f.writer.Unlock()
		_ = f.leg.Write(context.Background(), samples) // returns when the call ends
	}()
}

func (f *farLeg) Press(digits string) {
	go func() { _ = f.leg.SendDTMF(context.Background(), digits) }()
}

func (f *farLeg) Played() []int16 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]int16(nil), f.played...)
}

func (f *farLeg) Pressed() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return string(f.pressed)
}

func (f *farLeg) Hangup() { _ = f.leg.Hangup(context.Background()) }

func (f *farLeg) Done() <-chan struct{} { return f.leg.Done() }

func TestLineConforms(t *testing.T) {
	t.Parallel()
	agentstest.RunLine(t, func(t *testing.T) agentstest.LineHarness {
		t.Helper()
		near, far := agents(t, "PCMU")
		return agentstest.LineHarness{
			Line: near, Far: far, Dial: call.DialRequest{Org: org, From: alice, To: bob}, Close: func() { _ = near.Close(context.Background()) },
		}
	})
}

// TestLegConforms checks the legs of an outbound call with PCMU and of an inbound call with G722.
func TestLegConforms(t *testing.T) {
	t.Parallel()
	for name, connect := range map[string]func(t *testing.T, near *agent, far *farAgent) (call.Leg, agentstest.FarLeg){
		"outbound": func(t *testing.T, near *agent, far *farAgent) (call.Leg, agentstest.FarLeg) {
			t.Helper()
			leg, err := near.Dial(within(t), call.DialRequest{Org: org, From: alice, To: bob}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return leg, <-far.answered
		},
		"inbound": func(t *testing.T, near *agent, far *farAgent) (call.Leg, agentstest.FarLeg) {
			t.Helper()
			legs := answer(t, near)
			l, err := far.Call(within(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			return legOf(t, legs), l
		},
	} {
		preferred := map[string]string{"outbound": "PCMU", "inbound": "G722"}[name]
		t.Run(name+" "+preferred, func(t *testing.T) {
			t.Parallel()
			agentstest.RunLeg(t, agentstest.LegHarness{
				Connect: func(t *testing.T) (call.Leg, agentstest.FarLeg) {
					t.Helper()
					near, far := agents(t, preferred)
					return connect(t, near, far)
				},
				Hold: heldLeg, Transfer: transferredLeg, Refer: referredLeg,
			})
		})
	}
}

// wireLeg returns an answered leg and the scripted caller at its other end.
func wireLeg(t *testing.T) (call.Leg, *caller) {
	t.Helper()
	a := talking(t, "PCMU")
	c, legs := newCaller(t, a), answer(t, a)
	c.connected()
	return legOf(t, legs), c
}

// heldLeg returns a leg, and a function that makes the scripted peer hold or resume the call with a re-INVITE.
func heldLeg(t *testing.T) (call.Leg, func(on bool)) {
	t.Helper()
	leg, c := wireLeg(t)
	return leg, func(on bool) {
		direction := "a=sendrecv"
		if on {
			direction = "a=sendonly"
		}
		c.ask("INVITE", offerSDP("RTP/SAVP", direction))
		c.response(200)
		c.ask("ACK", "")
	}
}

// transferredLeg returns a leg whose scripted peer accepts a REFER to the given number, completes the transfer and ends the call. The peer
// refuses a REFER to another number with 403.
func transferredLeg(t *testing.T, to string) call.Leg {
	t.Helper()
	leg, c := wireLeg(t)
	done := make(chan struct{})
	t.Cleanup(func() { <-done })
	go func() {
		defer close(done)
		for {
			refer := c.request("REFER")
			if !strings.Contains(refer.get("Refer-To"), to) {
				c.reply(refer, 403, "", "")
				continue
			}
			c.reply(refer, 202, "", "")
			c.ask("NOTIFY", "SIP/2.0 200 OK\r\n", "Event: refer", "Subscription-State: terminated;reason=noresource")
			c.response(200)
			c.reply(c.request("BYE"), 200, "", "")
			return
		}
	}()
	return leg
}

// referredLeg returns a leg, and a function that makes the scripted peer transfer the call to the given number. The function's argument
// decides whether the target answers.
func referredLeg(t *testing.T, to callwright.PhoneNumber) (call.Leg, func(answers bool)) {
	t.Helper()
	address, accept := listenWire(t, "127.0.0.1")
	server, err := uri.Parse("sip:" + address + ";transport=tls")
	if err != nil {
		t.Fatal(err)
	}
	a := newAgent(t, func(cfg *sipua.Config) { cfg.Media, cfg.Transfers = newMedia(t), &transfers{server: server} })
	c, legs := newCaller(t, a), answer(t, a)
	c.connected()
	leg := legOf(t, legs)
	var target *wire
	return leg, func(answers bool) {
		c.ask("REFER", "", "Refer-To: <tel:"+to.String()+">")
		c.response(202)
		c.reply(c.request("NOTIFY"), 200, "", "")
		if target == nil {
			target = accept()
		}
		invite := target.request("INVITE")
		if !answers {
			target.reply(invite, 486, "target", "")
			target.request("ACK")
			c.reply(c.request("NOTIFY"), 200, "", "")
			return
		}
		target.reply(invite, 200, "target", answerSDP())
		target.request("ACK")
		c.reply(c.request("NOTIFY"), 200, "", "")
		c.ask("BYE", "")
		c.response(200)
		done := make(chan struct{})
		t.Cleanup(func() { <-done })
		go func() {
			defer close(done)
			target.reply(target.request("BYE"), 200, "", "")
		}()
	}
}
