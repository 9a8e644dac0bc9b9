package sipua_test

import (
	"context"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/agents/call"
)

// taking returns an agent that answers one call, a scripted peer that can place it, and a channel that receives the leg of the answered
// call.
func taking(t testing.TB) (*agent, *caller, <-chan call.Leg) {
	t.Helper()
	a := newAgent(t, nil)
	return a, newCaller(t, a), answer(t, a)
}

func legOf(t testing.TB, legs <-chan call.Leg) call.Leg {
	t.Helper()
	l, ok := <-legs
	if !ok {
		t.Fatal("no call")
	}
	return l
}

func TestInboundOnTheWire(t *testing.T) {
	t.Parallel()
	_, c, legs := taking(t)
	c.ask("INVITE", offerSDP("RTP/SAVP"), "Record-Route: <sip:p2.test;lr>, <sip:p1.test;lr>")
	if trying := c.next(); trying.status() != 100 || trying.toTag() != "" {
		t.Errorf("%s %v", trying.start, trying.header)
	}
	ringing := c.response(180)
	ok := c.taken()
	c.ask("ACK", "")
	if ringing.toTag() == "" || ringing.toTag() != ok.toTag() {
		t.Errorf("tags differ: %q, %q", ringing.toTag(), ok.toTag())
	}
	if !strings.Contains(ok.body, "m=audio 20002 RTP/SAVP 0 101\r\n") || strings.Count(ok.body, "a=crypto:1 ") != 1 ||
		strings.Contains(ok.body, "d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj") {
		t.Errorf("answer:\n%s", ok.body)
	}
	if ok.get("Allow") == "" || ok.get("Supported") != "timer" || !strings.Contains(ok.get("Contact"), bob.String()) ||
		ok.get("Record-Route") == "" || ok.get("Server") != "callwright" {
		t.Errorf("%v", ok.header)
	}
	l := legOf(t, legs)
	c.ask("BYE", "")
	c.response(200)
	if e := ends(t, l); e.Cause != call.CauseRemoteHangup || !e.ByPeer {
		t.Errorf("%+v", e)
	}
	c.ask("BYE", "")
	c.response(481)
}

func TestWeHangUpInbound(t *testing.T) {
	t.Parallel()
	_, c, legs := taking(t)
	c.connected()
	l := legOf(t, legs)
	go func() { _ = l.Hangup(t.Context()) }()
	bye := c.request("BYE")
	if !strings.HasPrefix(bye.start, "BYE sip:peer@"+c.conn.LocalAddr().String()) || bye.toTag() != "peer" ||
		!strings.Contains(bye.get("From"), c.tag) {
		t.Errorf("%s %v", bye.start, bye.header)
	}
	c.reply(bye, 200, "", "")
	if e := ends(t, l); e.Cause != call.CauseLocalHangup {
		t.Errorf("%+v", e)
	}
}

func TestLostACKOnTheWire(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	c := newCaller(t, a)
	failed := make(chan error, 1)
	ctx := within(t)
	go func() {
		p, err := a.Accept(ctx)
		if err == nil {
			_, err = p.Answer(ctx)
		}
		failed <- err
	}()
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	c.response(180)
	c.taken()
	c.repeats = true
	repeats := 0
	for {
		m := c.next()
		if m.method() == "BYE" {
			c.reply(m, 200, "", "")
			break
		}
		if m.status() != 200 || m.toTag() != c.tag {
			t.Fatalf("%s %v", m.start, m.header)
		}
		repeats++
	}
	if repeats < 4 || repeats > 12 {
		t.Errorf("the answer was repeated %d times in 64*T1", repeats)
	}
	if e := endingOf(t, <-failed); e.Cause != call.CauseNoACK {
		t.Errorf("%+v", e)
	}
}

func TestByeOvertakesACK(t *testing.T) {
	t.Parallel()
	for range 20 { // sipgo may or may not swap the two requests
		_, c, legs := taking(t)
		c.ask("INVITE", offerSDP("RTP/SAVP"))
		c.response(180)
		c.taken()
		c.ask("ACK", "")
		c.ask("BYE", "")
		c.response(200)
		if e := ends(t, legOf(t, legs)); e.Cause != call.CauseRemoteHangup {
			t.Errorf("%+v", e)
		}
	}
}

func TestByeInsteadOfACK(t *testing.T) {
	t.Parallel()
	_, c, legs := taking(t)
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	c.response(180)
	c.taken()
	c.ask("BYE", "")
	for m := c.next(); m.get("CSeq") != "2 BYE"; m = c.next() {
		if m.status() != 200 { // a retransmission of the 200
			t.Fatalf("%s", m.start)
		}
	}
	if e := ends(t, legOf(t, legs)); e.Cause != call.CauseRemoteHangup {
		t.Errorf("%+v", e)
	}
}

func TestCallerCancels(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	c := newCaller(t, a)
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	p, err := a.Accept(within(t))
	if err != nil {
		t.Fatal(err)
	}
	tag := c.response(180).toTag()
	c.ask("CANCEL", "")
	if ok := c.response(200); ok.get("CSeq") != "1 CANCEL" || ok.toTag() != tag {
		t.Errorf("%v", ok.header)
	}
	if r := c.response(487); r.get("CSeq") != "1 INVITE" || r.toTag() != tag {
		t.Errorf("%v", r.header)
	}
	eventually(t, "the call is gone", func() bool { return a.Calls() == 0 && a.media.open.Load() == 0 })
	if _, err := p.Answer(within(t)); endingOf(t, err).Cause != call.CauseCancelled {
		t.Errorf("%v", err)
	}
}

func TestCallersConnectionDropsWhileRinging(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	c := newCaller(t, a)
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	p, err := a.Accept(within(t))
	if err != nil {
		t.Fatal(err)
	}
	c.response(180)
	_ = c.conn.Close()
	eventually(t, "the call is gone", func() bool { return a.Calls() == 0 })
	if _, err := p.Answer(within(t)); endingOf(t, err).Cause != call.CauseUnreachable {
		t.Errorf("%v", err)
	}
}

func TestRefusedInvites(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status  int
		change  func(*agent)
		body    string
		extra   []string
		uri     string
		header  string
		content string
	}{
		"no SRTP":            {status: 488, body: offerSDP("RTP/AVP"), header: "Warning", content: "399 "},
		"no common codec":    {status: 488, body: strings.Replace(offerSDP("RTP/SAVP"), "SAVP 0 101", "SAVP 9 101", 1), header: "Warning", content: "305 "},
		"not a description":  {status: 400, body: "hello"},
		"unknown number":     {status: 403, change: func(a *agent) { a.routes.inbound = callwright.NotFound("number") }},
		"unknown source":     {status: 403, change: func(a *agent) { a.routes.inbound = callwright.ErrForbidden }},
		"broken routes":      {status: 500, change: func(a *agent) { a.routes.inbound = context.DeadlineExceeded }},
		"broken route":       {status: 500, change: func(a *agent) { a.routes.route.Codecs = []string{"MP3"} }},
		"not a number":       {status: 403, uri: "sip:bob@example.test"},
		"required extension": {status: 420, extra: []string{"Require: 100rel, timer"}, header: "Unsupported", content: "100rel"},
		"short session":      {status: 422, extra: []string{"Session-Expires: 60", "Supported: timer"}, header: "Min-Se", content: "90"},
		"another body":       {status: 415, extra: []string{"Content-Encoding: gzip"}, header: "Accept", content: "application/sdp"},
		"another scheme":     {status: 416, uri: "http:bob"},
		"draining":           {status: 503, change: func(a *agent) { a.Drain() }, header: "Retry-After", content: "5"},
		"two contacts":       {status: 400, extra: []string{"Contact: <sip:other@example.test>"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t, nil)
			if tt.change != nil {
				tt.change(a)
			}
			c := newCaller(t, a)
			if tt.uri != "" {
				c.uri, c.target = tt.uri, tt.uri
			}
			if tt.body == "" {
				tt.body = offerSDP("RTP/SAVP")
			}
			c.ask("INVITE", tt.body, tt.extra...)
			r := c.response(tt.status)
			if got := r.get(tt.header); tt.header != "" && !strings.HasPrefix(got, tt.content) {
				t.Errorf("%s: %q", tt.header, got)
			}
			c.ask("ACK", "")
			eventually(t, "the call is gone", func() bool { return a.Calls() == 0 })
			if n := len(a.media.sessions); n != 0 {
				t.Errorf("%d media sessions were opened", n)
			}
		})
	}
}

func TestNumbersThatAreCalled(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]callwright.PhoneNumber{
		"sip:+15550100002@example.test":             bob,
		"sip:15550100002@example.test":              bob,
		"sip:%2B15550100002@example.test":           bob,
		"sip:+15550100002;npdi=yes@example.test":    bob,
		"tel:+1-555-0100-002":                       bob,
		"sips:+15550100002@example.test;user=phone": bob,
	} {
		t.Run(uri, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t, nil)
			c := newCaller(t, a)
			c.target = uri
			c.uri = "sip:nobody@example.test"
			c.ask("INVITE", offerSDP("RTP/SAVP"))
			p, err := a.Accept(within(t))
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Caller().To; got != want {
				t.Errorf("%s", got)
			}
		})
	}
}

func TestTooManyCalls(t *testing.T) {
	t.Parallel()
	a := newAgent(t, func(c *sipua.Config) { c.MaxCalls = 2 })
	for range 2 {
		newCaller(t, a).ask("INVITE", offerSDP("RTP/SAVP"))
		if _, err := a.Accept(within(t)); err != nil {
			t.Fatal(err)
		}
	}
	third := newCaller(t, a)
	third.ask("INVITE", offerSDP("RTP/SAVP"))
	if r := third.response(503); r.get("Retry-After") == "" {
		t.Errorf("%v", r.header)
	}
	if n := len(a.media.sessions); n != 2 {
		t.Errorf("%d media sessions were opened", n)
	}
}

func TestOfferlessInviteOnTheWire(t *testing.T) {
	t.Parallel()
	a, c, legs := taking(t)
	c.ask("INVITE", "")
	c.response(180)
	ok := c.taken()
	if !strings.Contains(ok.body, "RTP/SAVP 0 8 101") {
		t.Errorf("offer:\n%s", ok.body)
	}
	c.ask("ACK", answerSDP())
	legOf(t, legs)
	if n := a.media.last(t).negotiated(); len(n) != 1 {
		t.Errorf("%d negotiations", len(n))
	}
}

func TestOfferlessInviteWithoutAnswer(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	c := newCaller(t, a)
	failed := make(chan error, 1)
	ctx := within(t)
	go func() {
		p, err := a.Accept(ctx)
		if err == nil {
			_, err = p.Answer(ctx)
		}
		failed <- err
	}()
	c.ask("INVITE", "")
	c.response(180)
	c.taken()
	c.ask("ACK", "")
	c.reply(c.request("BYE"), 200, "", "")
	if e := endingOf(t, <-failed); e.Cause != call.CauseNotAcceptable {
		t.Errorf("%+v", e)
	}
}

func TestHoldDirections(t *testing.T) {
	t.Parallel()
	_, c, _ := taking(t)
	c.connected()
	for _, tt := range []struct{ offer, answer string }{
		{"sendonly", "recvonly"}, {"inactive", "inactive"}, {"sendrecv", "sendrecv"}, {"recvonly", "sendonly"}, {"sendrecv", "sendrecv"},
	} {
		c.ask("INVITE", offerSDP("RTP/SAVP", "a="+tt.offer))
		if ok := c.response(200); !strings.Contains(ok.body, "a="+tt.answer+"\r\n") {
			t.Errorf("%s:\n%s", tt.offer, ok.body)
		}
		c.ask("ACK", "")
	}
	c.ask("INVITE", offerSDP("RTP/AVP"))
	if r := c.response(488); !strings.HasPrefix(r.get("Warning"), "399 ") {
		t.Errorf("%v", r.header)
	}
	c.ask("ACK", "")
	c.ask("BYE", "")
	c.response(200)
}

func TestSessionTimersOfTheCaller(t *testing.T) {
	t.Parallel()
	_, c, _ := taking(t)
	ok := c.connected("Session-Expires: 120", "Supported: timer")
	if ok.get("Session-Expires") != "120;refresher=uac" || ok.get("Require") != "timer" {
		t.Errorf("%v", ok.header)
	}
	c.ask("INVITE", offerSDP("RTP/SAVP"), "Session-Expires: 120;refresher=uac", "Supported: timer")
	if again := c.response(200); again.get("Session-Expires") != "120;refresher=uac" {
		t.Errorf("%v", again.header)
	}
	c.ask("ACK", "")
}
