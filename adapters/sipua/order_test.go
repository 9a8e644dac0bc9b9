package sipua_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
)

func TestByeOvertakesTheLastNotify(t *testing.T) {
	t.Parallel()
	_, c, legs := taking(t)
	c.connected()
	l := legOf(t, legs)
	result := make(chan error, 1)
	ctx := within(t)
	go func() { result <- l.Transfer(ctx, "+15550100009") }()
	c.reply(c.request("REFER"), 202, "", "")
	c.cseq++ // leaves the CSeq for the NOTIFY
	c.ask("BYE", "")
	c.cseq -= 2
	c.ask("NOTIFY", "SIP/2.0 200 OK\r\n", "Event: refer", "Subscription-State: terminated")
	for _, want := range []string{"NOTIFY", "BYE"} {
		if r := c.response(200); !strings.HasSuffix(r.get("CSeq"), want) {
			t.Errorf("%s, not %s", r.get("CSeq"), want)
		}
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
	if e := ends(t, l); e.Cause != call.CauseTransferred {
		t.Errorf("%+v", e)
	}
}

func TestRequestOvertakesACKOnTheWire(t *testing.T) {
	t.Parallel()
	_, c, legs := taking(t)
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	c.response(180)
	c.taken()
	c.ask("OPTIONS", "")
	c.cseq--
	c.ask("ACK", "")
	for m := c.next(); m.get("CSeq") != "2 OPTIONS"; m = c.next() {
		if m.status() != 200 { // a retransmission of the 200
			t.Fatalf("%s", m.start)
		}
	}
	legOf(t, legs)
}

func TestPeerSkipsACSeq(t *testing.T) {
	t.Parallel()
	_, c, _ := taking(t)
	c.connected()
	c.cseq += 10
	c.ask("OPTIONS", "")
	c.response(200)
}

func TestWeRefreshOnTheWire(t *testing.T) {
	t.Parallel()
	p := place(t, nil)
	session := "Session-Expires: 1;refresher=uac"
	p.peer.reply(p.invite, 200, "x", answerSDP(), session)
	p.peer.request("ACK")
	l := p.leg()
	again := p.peer.request("INVITE")
	if again.cseq() != 2 || again.toTag() != "x" || again.get("Session-Expires") != "1;refresher=uac" {
		t.Errorf("%v", again.header)
	}
	origin := func(body string) string { return strings.Split(body, "\r\n")[1] }
	if !strings.Contains(again.body, "RTP/SAVP 0 101") || origin(again.body)[:10] != origin(p.invite.body)[:10] {
		t.Errorf("re-offer:\n%s", again.body)
	}
	p.peer.reply(again, 200, "x", answerSDP(), session)
	p.peer.request("ACK")
	p.peer.request("INVITE") // the next refresh, which the peer does not answer
	p.peer.reply(p.peer.request("BYE"), 200, "", "")
	if e := ends(t, l); e.Cause != call.CauseUnreachable {
		t.Errorf("%+v", e)
	}
}

func TestOurReinviteMeetsTheirs(t *testing.T) {
	t.Parallel()
	_, c, _ := taking(t)
	c.connected("Session-Expires: 90;refresher=uas", "Supported: timer")
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	c.response(200)
	c.ask("INVITE", offerSDP("RTP/SAVP", "a=sendonly")) // implies the missing ACK of the previous INVITE
	c.response(200)
	c.ask("ACK", "")
}

// panicking is a sip.Routes whose Inbound panics. Such a panic may affect only one call.
type panicking struct{ trunk.Routes }

func (panicking) Inbound(context.Context, callwright.PhoneNumber, trunk.Peer) (trunk.Route, error) {
	panic("a bug")
}

func TestPanicCostsOneCall(t *testing.T) {
	t.Parallel()
	a := newAgent(t, func(c *sipua.Config) { c.Routes = panicking{} })
	for range 2 {
		c := newCaller(t, a)
		c.ask("INVITE", offerSDP("RTP/SAVP"))
		c.response(500)
	}
	eventually(t, "the calls are gone", func() bool { return a.Calls() == 0 })
}

// slow is a sip.Routes whose lookup blocks until release is closed.
type slow struct {
	trunk.Routes
	asked, release chan struct{}
}

func (s slow) Inbound(context.Context, callwright.PhoneNumber, trunk.Peer) (trunk.Route, error) {
	close(s.asked)
	<-s.release
	return trunk.Route{}, nil
}

func TestCancelledWhileTheRouteIsLookedUp(t *testing.T) {
	t.Parallel()
	s := slow{asked: make(chan struct{}), release: make(chan struct{})}
	a := newAgent(t, func(c *sipua.Config) { c.Routes = s })
	c := newCaller(t, a)
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	c.response(100)
	<-s.asked
	c.ask("CANCEL", "")
	c.response(200)
	c.response(487)
	close(s.release)
	eventually(t, "the media is closed again", func() bool {
		a.media.mu.Lock()
		defer a.media.mu.Unlock()
		return len(a.media.sessions) == 1 && a.media.open.Load() == 0
	})
	ctx, cancel := context.WithTimeout(t.Context(), 5*testT1)
	defer cancel()
	if _, err := a.Accept(ctx); err == nil {
		t.Error("a call that is gone is handed out")
	}
}

func TestNobodyAccepts(t *testing.T) {
	t.Parallel()
	a := newAgent(t, func(c *sipua.Config) { c.Ring = 50 * time.Millisecond })
	c := newCaller(t, a)
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	c.response(480)
	c.ask("ACK", "")
	eventually(t, "the call is gone", func() bool { return a.Calls() == 0 && a.media.open.Load() == 0 })
}

func TestAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	c := newCaller(t, a)
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	p, err := a.Accept(within(t))
	if err != nil {
		t.Fatal(err)
	}
	c.response(180)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := p.Answer(ctx)
		failed <- err
	}()
	c.taken()
	cancel()
	if e := endingOf(t, <-failed); e.Cause != call.CauseCancelled {
		t.Errorf("%+v", e)
	}
	c.ask("ACK", "")
	c.reply(c.request("BYE"), 200, "", "")
	eventually(t, "the call is gone", func() bool { return a.Calls() == 0 })
}
