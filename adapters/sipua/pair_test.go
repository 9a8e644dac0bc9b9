package sipua_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
)

// pair returns two user agents. The first is configured to call the second.
func pair(t testing.TB) (caller, callee *agent) {
	t.Helper()
	caller, callee = newAgent(t, nil), newAgent(t, nil)
	caller.callsTo(t, callee.Addr().String())
	return caller, callee
}

// answer accepts and answers the next call in a new goroutine. The returned channel yields the leg, or is closed after an error.
func answer(t testing.TB, a *agent) <-chan call.Leg {
	t.Helper()
	legs := make(chan call.Leg, 1)
	ctx := within(t)
	go func() {
		p, err := a.Accept(ctx)
		if err != nil {
			t.Errorf("accept: %v", err)
			close(legs)
			return
		}
		l, err := p.Answer(ctx)
		if err != nil {
			t.Errorf("answer: %v", err)
			close(legs)
			return
		}
		legs <- l
	}()
	return legs
}

// connect places a call from caller to callee, and returns the legs of both sides.
func connect(t testing.TB, caller, callee *agent) (out, in call.Leg) {
	t.Helper()
	answered := answer(t, callee)
	out, err := caller.Dial(within(t), call.DialRequest{Org: org, From: alice, To: bob}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if in = <-answered; in == nil {
		t.FailNow()
	}
	return out, in
}

func TestTwoAgentsCall(t *testing.T) {
	t.Parallel()
	caller, callee := pair(t)
	rang, answered := make(chan call.Progress, 10), make(chan call.Leg, 1)
	ctx := within(t)
	go func() {
		p, err := callee.Accept(ctx)
		if err != nil {
			t.Errorf("accept: %v", err)
			return
		}
		if r := <-rang; r != call.ProgressRinging {
			t.Errorf("progress %s", r)
		}
		l, err := p.Answer(ctx)
		if err != nil {
			t.Errorf("answer: %v", err)
		}
		answered <- l
	}()
	out, err := caller.Dial(ctx, call.DialRequest{Org: org, From: alice, To: bob}, func(p call.Progress) { rang <- p })
	if err != nil {
		t.Fatal(err)
	}
	in := <-answered
	if len(rang) > 0 {
		t.Error("it rings twice")
	}
	for name, l := range map[string]call.Leg{"out": out, "in": in} {
		i := l.Info()
		if i.Codec != "PCMU" || i.TLS != "TLS 1.3" || i.SIPCallID == "" || i.Peer == "" || i.SRTPSuite == "" || l.Rate() != 8000 {
			t.Errorf("%s: %+v", name, i)
		}
	}
	ours, theirs := caller.media.last(t).negotiated()[0], callee.media.last(t).negotiated()[0]
	if !ours.LocalCrypto.Key.Equal(theirs.RemoteCrypto.Key) || !theirs.LocalCrypto.Key.Equal(ours.RemoteCrypto.Key) ||
		ours.RemoteRTP != theirs.Local {
		t.Errorf("the media do not meet: %+v, %+v", ours, theirs)
	}
	if err := out.Write(ctx, make([]int16, 160)); err != nil || out.Queued() != 160 || out.Flush() != 160 || out.Queued() != 0 {
		t.Errorf("playing: %v", err)
	}
	if err := out.SendDTMF(ctx, "12"); err != nil {
		t.Errorf("digits: %v", err)
	}
	if out.Ending() != (call.HangupReason{}) {
		t.Errorf("%+v before the end", out.Ending())
	}
	if err := out.Hangup(within(t)); err != nil {
		t.Fatal(err)
	}
	if e := ends(t, out); e.Cause != call.CauseLocalHangup || e.ByPeer {
		t.Errorf("caller: %+v", e)
	}
	if e := ends(t, in); e.Cause != call.CauseRemoteHangup || !e.ByPeer {
		t.Errorf("callee: %+v", e)
	}
	if s := in.Stats(); s.Sent != 7 {
		t.Errorf("stats: %+v", s)
	}
	if _, err := in.Read(within(t)); !errors.Is(err, io.EOF) {
		t.Errorf("read: %v", err)
	}
	if err := in.Hangup(within(t)); err != nil {
		t.Errorf("hanging up what is over: %v", err)
	}
}

func TestCalleeHangsUp(t *testing.T) {
	t.Parallel()
	caller, callee := pair(t)
	out, in := connect(t, caller, callee)
	if err := in.Hangup(within(t)); err != nil {
		t.Fatal(err)
	}
	if e := ends(t, out); e.Cause != call.CauseRemoteHangup {
		t.Errorf("%+v", e)
	}
}

func TestRejects(t *testing.T) {
	t.Parallel()
	for cause, want := range map[call.Cause]call.HangupReason{
		call.CauseBusy:        {Cause: call.CauseBusy, SIPCode: 486},
		call.CauseRejected:    {Cause: call.CauseRejected, SIPCode: 603},
		call.CauseUnavailable: {Cause: call.CauseNoAnswer, SIPCode: 480},
		call.CauseOverload:    {Cause: call.CauseOverload, SIPCode: 503},
		call.CauseInternal:    {Cause: call.CauseOverload, SIPCode: 503},
	} {
		t.Run(string(cause), func(t *testing.T) {
			t.Parallel()
			caller, callee := pair(t)
			ctx := within(t)
			go func() {
				p, err := callee.Accept(ctx)
				if err != nil {
					t.Errorf("accept: %v", err)
					return
				}
				if err := p.Reject(cause); err != nil {
					t.Errorf("reject: %v", err)
				}
			}()
			_, err := caller.Dial(ctx, call.DialRequest{Org: org, From: alice, To: bob}, nil)
			if e := endingOf(t, err); e.Cause != want.Cause || e.SIPCode != want.SIPCode || !e.ByPeer {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestOfferTellsWhoCalls(t *testing.T) {
	t.Parallel()
	caller, callee := pair(t)
	ctx, giveUp := context.WithCancel(within(t))
	ended := make(chan error, 1)
	go func() {
		_, err := caller.Dial(ctx, call.DialRequest{
			Org: org, From: alice, To: bob,
			Headers: map[string]string{"X-Tenant": "seven", "User-to-User": "abc;encoding=hex", "Subject": "not sent"},
		}, nil)
		ended <- err
	}()
	p, err := callee.Accept(within(t))
	if err != nil {
		t.Fatal(err)
	}
	o := p.Caller()
	if o.From != alice.String() || o.To != bob || o.Org != org || o.TrunkID != "trunk" || o.Source == "" ||
		o.Headers["X-Tenant"] != "seven" || o.Headers["User-to-User"] != "abc;encoding=hex" || len(o.Headers) != 2 {
		t.Errorf("%+v", o)
	}
	giveUp()
	if e := endingOf(t, <-ended); e.Cause != call.CauseCancelled {
		t.Errorf("%+v", e)
	}
	eventually(t, "the callee's call is gone", func() bool { return callee.Calls() == 0 })
	if _, err := p.Answer(within(t)); endingOf(t, err).Cause != call.CauseCancelled {
		t.Errorf("answering a cancelled call: %v", err)
	}
}

func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	caller, callee := pair(t)
	_, err := caller.Dial(within(t), call.DialRequest{Org: org, From: alice, To: bob, Ring: 50 * time.Millisecond}, nil)
	if e := endingOf(t, err); e.Cause != call.CauseNoAnswer {
		t.Errorf("%+v", e)
	}
	eventually(t, "the callee's call is gone", func() bool { return callee.Calls() == 0 })
}

// TestNoGhosts checks that callers that hang up at any moment during the set-up leave no call and no media session behind on either side.
func TestNoGhosts(t *testing.T) {
	t.Parallel()
	caller, callee := pair(t)
	ctx, stop := context.WithCancel(within(t))
	var answering, calling sync.WaitGroup
	answering.Go(func() {
		for {
			p, err := callee.Accept(ctx)
			if err != nil {
				return
			}
			answering.Go(func() { _, _ = p.Answer(ctx) })
		}
	})
	for i := range 200 {
		calling.Go(func() {
			patient, cancel := context.WithTimeout(ctx, time.Duration(i)*50*time.Microsecond)
			defer cancel()
			if l, err := caller.Dial(patient, call.DialRequest{Org: org, From: alice, To: bob}, nil); err == nil {
				if err := l.Hangup(ctx); err != nil {
					t.Errorf("hangup: %v", err)
				}
			}
		})
		if i%20 == 19 { // stay below MaxCalls
			calling.Wait()
		}
	}
	calling.Wait()
	eventually(t, "the calls are gone", func() bool { return caller.Calls() == 0 && callee.Calls() == 0 })
	if n := caller.media.open.Load() + callee.media.open.Load(); n != 0 {
		t.Errorf("%d media sessions are open", n)
	}
	stop()
	answering.Wait()
}

func TestPeerVanishesFromTheWire(t *testing.T) {
	t.Parallel()
	caller, callee := pair(t)
	out, in := connect(t, caller, callee)
	caller.media.last(t).frames <- nil
	if f, err := out.Read(within(t)); err != nil || len(f.In) != 160 {
		t.Fatalf("%v %v", f, err)
	}
	caller.media.last(t).frames <- trunk.ErrMediaTimeout
	if _, err := out.Read(within(t)); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
	if e := ends(t, out); e.Cause != call.CauseMediaTimeout || e.Reason != "no audio came from the other side" {
		t.Errorf("%+v", e)
	}
	ends(t, in)
}

func TestDrainAndClose(t *testing.T) {
	t.Parallel()
	caller, callee := pair(t)
	out, in := connect(t, caller, callee)
	callee.Drain()
	_, err := caller.Dial(within(t), call.DialRequest{Org: org, From: alice, To: bob}, nil)
	if e := endingOf(t, err); e.Cause != call.CauseOverload || e.SIPCode != 503 {
		t.Errorf("calling somebody who drains: %+v", e)
	}
	if callee.Calls() != 1 {
		t.Error("the running call does not stay")
	}
	_, err = callee.Dial(within(t), call.DialRequest{Org: org, From: bob, To: alice}, nil)
	if e := endingOf(t, err); e.Cause != call.CauseUnreachable && e.Cause != call.CauseOverload {
		t.Errorf("calling while draining: %+v", e)
	}
	if err := callee.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	if e := ends(t, in); e.Cause != call.CauseDrained {
		t.Errorf("%+v", e)
	}
	ends(t, out)
	if _, err := callee.Accept(within(t)); err == nil {
		t.Error("accepts after the end")
	}
}
