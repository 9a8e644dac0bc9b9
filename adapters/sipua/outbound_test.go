package sipua_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
)

// placed is a call from an agent to a scripted peer.
type placed struct {
	*agent
	t       testing.TB
	peer    *wire
	invite  message
	result  chan call.Leg
	failure chan error
	giveUp  context.CancelFunc
	rang    chan struct{}
}

func place(t testing.TB, change func(*agent)) *placed {
	t.Helper()
	a := newAgent(t, nil)
	address, accept := listenWire(t, "127.0.0.1")
	a.callsTo(t, address)
	if change != nil {
		change(a)
	}
	p := dial(t, a, call.DialRequest{Org: org, From: alice, To: bob})
	p.peer = accept()
	p.invite = p.peer.request("INVITE")
	return p
}

// dial starts a call and returns before it is answered.
func dial(t testing.TB, a *agent, d call.DialRequest) *placed {
	t.Helper()
	ctx, giveUp := context.WithCancel(within(t))
	p := &placed{
		agent: a, t: t, giveUp: giveUp, result: make(chan call.Leg, 1), failure: make(chan error, 1), rang: make(chan struct{}),
	}
	t.Cleanup(giveUp)
	go func() {
		rings := sync.OnceFunc(func() { close(p.rang) })
		l, err := a.Dial(ctx, d, func(call.Progress) { rings() })
		if err != nil {
			p.failure <- err
			return
		}
		p.result <- l
	}()
	return p
}

func (p *placed) leg() call.Leg {
	p.t.Helper()
	select {
	case l := <-p.result:
		return l
	case err := <-p.failure:
		p.t.Fatal(err)
	case <-time.After(patience):
		p.t.Fatal("no call comes about")
	}
	return nil
}

func (p *placed) fails() call.HangupReason {
	p.t.Helper()
	select {
	case <-p.result:
		p.t.Fatal("the call came about")
	case err := <-p.failure:
		return endingOf(p.t, err)
	case <-time.After(patience):
		p.t.Fatal("the call goes on trying")
	}
	return call.HangupReason{}
}

func (p *placed) gone() {
	p.t.Helper()
	eventually(p.t, "the call is gone", func() bool { return p.Calls() == 0 && p.media.open.Load() == 0 })
}

func TestInviteOnTheWire(t *testing.T) {
	t.Parallel()
	p := place(t, nil)
	for name, want := range map[string]string{
		"Allow": "INVITE, ACK, BYE, CANCEL, OPTIONS, REFER, NOTIFY", "Supported": "timer", "Session-Expires": "1800",
		"Min-Se": "90", "Max-Forwards": "70", "User-Agent": "callwright", "Content-Type": "application/sdp", "Cseq": "1 INVITE",
	} {
		if got := p.invite.get(name); got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
	if !strings.HasPrefix(p.invite.start, "INVITE sip:"+bob.String()+"@127.0.0.1:") ||
		!strings.HasPrefix(p.invite.get("From"), "<sip:"+alice.String()+"@127.0.0.1>;tag=") ||
		p.invite.get("To") != "<sip:"+bob.String()+"@127.0.0.1>" ||
		!strings.HasPrefix(p.invite.get("Contact"), "<sip:"+alice.String()+"@"+p.Addr().String()+";transport=tls>") {
		t.Errorf("%s %v", p.invite.start, p.invite.header)
	}
	if !strings.Contains(p.invite.body, "RTP/SAVP 0 8 101\r\n") || strings.Count(p.invite.body, "a=crypto:") != 1 ||
		!strings.Contains(p.invite.body, "a=ptime:20\r\n") {
		t.Errorf("offer:\n%s", p.invite.body)
	}
	p.peer.reply(p.invite, 486, "x", "")
	p.peer.request("ACK")
	if e := p.fails(); e.Cause != call.CauseBusy || e.SIPCode != 486 {
		t.Errorf("%+v", e)
	}
	p.gone()
}

func TestGivenUpWhileRinging(t *testing.T) {
	t.Parallel()
	p := place(t, nil)
	p.peer.reply(p.invite, 180, "x", "")
	<-p.rang
	p.giveUp()
	cancel := p.peer.request("CANCEL")
	if cancel.get("Via") != p.invite.get("Via") || cancel.cseq() != 1 || cancel.toTag() != "" ||
		strings.Fields(cancel.start)[1] != strings.Fields(p.invite.start)[1] {
		t.Errorf("%s %v", cancel.start, cancel.header)
	}
	p.peer.reply(cancel, 200, "x", "")
	p.peer.reply(p.invite, 487, "x", "")
	p.peer.request("ACK")
	if e := p.fails(); e.Cause != call.CauseCancelled || e.SIPCode != 487 {
		t.Errorf("%+v", e)
	}
	p.gone()
}

func TestGivenUpBeforeAnythingIsHeard(t *testing.T) {
	t.Parallel()
	p := place(t, nil)
	p.giveUp()
	p.fails()
	p.peer.silent(5 * testT1) // no CANCEL before a provisional response
	p.peer.reply(p.invite, 100, "", "")
	cancel := p.peer.request("CANCEL")
	p.peer.reply(cancel, 200, "x", "")
	p.peer.reply(p.invite, 487, "x", "")
	p.peer.request("ACK")
	p.gone()
}

func TestCancelCrossesAnswerOnTheWire(t *testing.T) {
	t.Parallel()
	p := place(t, nil)
	p.peer.reply(p.invite, 180, "x", "")
	<-p.rang
	p.giveUp()
	cancel := p.peer.request("CANCEL")
	p.peer.reply(p.invite, 200, "x", answerSDP())
	p.peer.reply(cancel, 200, "x", "")
	p.peer.request("ACK")
	bye := p.peer.request("BYE")
	p.peer.reply(bye, 200, "x", "")
	p.fails()
	p.gone()
}

func TestPeerNeverAnswersAnything(t *testing.T) {
	t.Parallel()
	p := place(t, nil) // timer B ends the call after 64*T1
	if e := p.fails(); e.Cause != call.CauseUnreachable || e.SIPCode != 408 {
		t.Errorf("%+v", e)
	}
	p.gone()
}

func TestManyProvisionals(t *testing.T) {
	t.Parallel()
	p := place(t, nil)
	for range 30 {
		p.peer.reply(p.invite, 180, "x", "")
	}
	p.peer.reply(p.invite, 200, "x", answerSDP())
	p.peer.request("ACK")
	p.leg()
}

func TestAnswerIsRepeatedAndForked(t *testing.T) {
	t.Parallel()
	p := place(t, nil)
	p.peer.reply(p.invite, 200, "x", answerSDP())
	first := p.peer.request("ACK")
	l := p.leg()
	p.peer.reply(p.invite, 200, "x", answerSDP())
	if again := p.peer.request("ACK"); again.toTag() != "x" || again.cseq() != first.cseq() {
		t.Errorf("%v", again.header)
	}
	p.peer.reply(p.invite, 200, "fork", answerSDP())
	if ack := p.peer.request("ACK"); ack.toTag() != "fork" {
		t.Errorf("%v", ack.header)
	}
	bye := p.peer.request("BYE")
	if bye.toTag() != "fork" {
		t.Errorf("%v", bye.header)
	}
	p.peer.reply(bye, 200, "", "")
	select {
	case <-l.Done():
		t.Error("the call ended with the fork")
	default:
	}
}

func TestUnusableAnswers(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"none": "", "no SRTP": offerSDP("RTP/AVP"), "no description": "hello",
		"another codec": strings.Replace(answerSDP(), "SAVP 0 101", "SAVP 9 101", 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := place(t, nil)
			p.peer.reply(p.invite, 200, "x", body)
			p.peer.request("ACK")
			bye := p.peer.request("BYE")
			p.peer.reply(bye, 200, "", "")
			if e := p.fails(); e.Cause != call.CauseNotAcceptable {
				t.Errorf("%+v", e)
			}
			p.gone()
		})
	}
}

func TestDigestWithTheStrongestAlgorithm(t *testing.T) {
	t.Parallel()
	p := place(t, func(a *agent) {
		a.routes.route.Credentials = trunk.Credentials{Username: "user", Password: callwright.Secret("pass")}
	})
	p.peer.reply(p.invite, 401, "x", "",
		`WWW-Authenticate: Digest realm="r", nonce="n1", algorithm=MD5, qop="auth"`,
		`WWW-Authenticate: Digest realm="r", nonce="n2", algorithm=SHA-256, qop="auth"`,
		`WWW-Authenticate: Digest realm="r", nonce="n3", algorithm=UNHEARD-OF, qop="auth"`)
	p.peer.request("ACK")
	again := p.peer.request("INVITE")
	auth := again.get("Authorization")
	if again.cseq() != 2 || !strings.Contains(auth, `nonce="n2"`) || !strings.Contains(auth, "SHA-256") ||
		!strings.Contains(auth, `username="user"`) || strings.Contains(auth, "pass") {
		t.Errorf("%d %s", again.cseq(), auth)
	}
	p.peer.reply(again, 200, "x", answerSDP())
	if ack := p.peer.request("ACK"); ack.get("Authorization") != auth {
		t.Errorf("ACK without the credentials: %v", ack.header)
	}
	p.leg()
}

func TestWrongPassword(t *testing.T) {
	t.Parallel()
	p := place(t, func(a *agent) {
		a.routes.route.Credentials = trunk.Credentials{Username: "user", Password: callwright.Secret("pass")}
	})
	for invite := p.invite; ; invite = p.peer.request("INVITE") {
		p.peer.reply(invite, 407, "x", "", `Proxy-Authenticate: Digest realm="r", nonce="n", qop="auth"`)
		p.peer.request("ACK")
		if invite.cseq() == 2 {
			break
		}
	}
	if e := p.fails(); e.Cause != call.CauseAuthFailed || e.SIPCode != 407 {
		t.Errorf("%+v", e)
	}
}

func TestRecordRouteDecides(t *testing.T) {
	t.Parallel()
	p := place(t, nil)
	proxy, accept := listenWire(t, "127.0.0.1")
	p.peer.reply(p.invite, 200, "x", answerSDP(), "Record-Route: <sip:far.test;lr>, <sip:127.0.0.2.test;lr>",
		"Record-Route: <sip:"+strings.Replace(proxy, "127.0.0.1", "localhost", 1)+";transport=tls;lr>")
	over := accept() // a new connection to the proxy, verified with the trunk's host
	ack := over.request("ACK")
	want := []string{
		"<sip:" + strings.Replace(proxy, "127.0.0.1", "localhost", 1) + ";transport=tls;lr>",
		"<sip:127.0.0.2.test;lr>", "<sip:far.test;lr>",
	}
	if got := ack.header["Route"]; strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("Route: %v", got)
	}
	l := p.leg()
	go func() { _ = l.Hangup(t.Context()) }()
	bye := over.request("BYE")
	over.reply(bye, 200, "", "")
	ends(t, l)
}

func TestConnectionDropsInTheMiddle(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	address, accept := listenWire(t, "127.0.0.1")
	a.callsTo(t, address)
	legs := make(chan call.Leg, 1)
	ctx := within(t)
	go func() {
		l, err := a.Dial(ctx, call.DialRequest{Org: org, From: alice, To: bob}, nil)
		if err != nil {
			t.Errorf("dial: %v", err)
		}
		legs <- l
	}()
	first := accept()
	first.reply(first.request("INVITE"), 200, "x", answerSDP(), "Contact: <sip:peer@"+address+";transport=tls>")
	first.request("ACK")
	l := <-legs
	_ = first.conn.Close()
	<-first.closed
	select {
	case <-l.Done():
		t.Fatal("a dropped connection is no hang-up: the media may go on")
	case <-time.After(5 * testT1):
	}
	go func() { _ = l.Hangup(ctx) }()
	second := accept()
	second.reply(second.request("BYE"), 200, "", "")
	if e := ends(t, l); e.Cause != call.CauseLocalHangup {
		t.Errorf("%+v", e)
	}
}

func TestPeerHoldsOutboundCall(t *testing.T) {
	t.Parallel()
	p := place(t, nil)
	p.peer.reply(p.invite, 200, "x", answerSDP())
	p.peer.request("ACK")
	l := p.leg()
	// ask sends a request of the callee. Its From is the To of the INVITE, and its To the From of the INVITE.
	ask := func(method string, cseq int, body string) {
		p.peer.send(body, method+" sip:x@"+p.Addr().String()+" SIP/2.0",
			"Via: SIP/2.0/TLS 127.0.0.1;branch=z9hG4bKpeer"+method+string(rune('0'+cseq)),
			"Max-Forwards: 70", "From: "+p.invite.get("To")+";tag=x", "To: "+p.invite.get("From"),
			"Call-ID: "+p.invite.get("Call-Id"), "CSeq: "+string(rune('0'+cseq))+" "+method, "Contact: <sip:peer@127.0.0.1:5061>")
	}
	ask("INVITE", 1, answerSDP("a=sendonly"))
	if ok := p.peer.response(200); !strings.Contains(ok.body, "a=recvonly") {
		t.Errorf("answer to hold:\n%s", ok.body)
	}
	ask("ACK", 1, "")
	ask("INVITE", 2, answerSDP("a=sendrecv"))
	if ok := p.peer.response(200); !strings.Contains(ok.body, "a=sendrecv") {
		t.Errorf("answer to resume:\n%s", ok.body)
	}
	ask("ACK", 2, "")
	ask("BYE", 3, "")
	p.peer.response(200)
	if e := ends(t, l); e.Cause != call.CauseRemoteHangup {
		t.Errorf("%+v", e)
	}
	applied := p.media.last(t).negotiated()
	if len(applied) != 3 || !applied[1].RemoteHold || applied[2].RemoteHold {
		t.Errorf("%d negotiations", len(applied))
	}
}

func TestFailover(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status int
		next   bool
	}{"busy": {486, false}, "out of service": {503, true}, "declined": {603, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t, nil)
			first, acceptFirst := listenWire(t, "127.0.0.1")
			second, acceptSecond := listenWire(t, "127.0.0.1")
			a.callsTo(t, "127.0.0.1:1", first, second) // no server listens at the first address
			a.routes.route.Failover = failover.Config{Enabled: true}
			failed := make(chan error, 1)
			ctx := within(t)
			go func() {
				_, err := a.Dial(ctx, call.DialRequest{Org: org, From: alice, To: bob}, nil)
				failed <- err
			}()
			w := acceptFirst()
			invite := w.request("INVITE")
			w.reply(invite, tt.status, "x", "")
			w.request("ACK")
			want := tt.status
			if tt.next {
				w = acceptSecond()
				if other := w.request("INVITE"); other.get("Call-Id") == invite.get("Call-Id") {
					t.Error("the second attempt looks like the first")
				} else {
					w.reply(other, 480, "x", "")
				}
				want = 480
			}
			if e := endingOf(t, <-failed); e.SIPCode != want {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestIdleConnectionIsGivenUp(t *testing.T) {
	t.Parallel()
	p := place(t, nil)
	p.peer.reply(p.invite, 486, "x", "")
	p.peer.request("ACK")
	p.fails()
	p.peer.hungUp() // after 600*T1
}

func TestPeersWordsAreMadePrintable(t *testing.T) {
	t.Parallel()
	p := place(t, nil)
	p.peer.raw(strings.Join([]string{
		"SIP/2.0 486 a\x01b\xff" + strings.Repeat("c", 1000), "Via: " + p.invite.get("Via"), "From: " + p.invite.get("From"),
		"To: " + p.invite.get("To") + ";tag=x", "Call-ID: " + p.invite.get("Call-Id"), "CSeq: 1 INVITE", "Content-Length: 0", "", "",
	}, "\r\n"))
	if e := p.fails(); len(e.Reason) > 200 || !utf8.ValidString(e.Reason) || !strings.HasPrefix(e.Reason, "abÿc") {
		t.Errorf("%q", e.Reason)
	}
}

func TestRouteDecidesTheCodecs(t *testing.T) {
	t.Parallel()
	p := place(t, func(a *agent) { a.routes.route.Codecs = []string{"G722", "pcma"} })
	if !strings.Contains(p.invite.body, "RTP/SAVP 9 8 101\r\n") {
		t.Errorf("offer:\n%s", p.invite.body)
	}
	p.peer.reply(p.invite, 603, "x", "")
	p.peer.request("ACK")
	p.fails()
}

func TestNoServer(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	dial := func() error {
		_, err := a.Dial(within(t), call.DialRequest{Org: org, From: alice, To: bob}, nil)
		return err
	}
	if e := endingOf(t, dial()); e.Cause != call.CauseUnreachable {
		t.Errorf("no server: %+v", e)
	}
	a.callsTo(t, "127.0.0.1:1")
	if e := endingOf(t, dial()); e.Cause != call.CauseUnreachable || !strings.Contains(e.Reason, "refused") {
		t.Errorf("nobody listens: %+v", e)
	}
	a.callsTo(t, "no-such-host.invalid")
	if e := endingOf(t, dial()); e.Cause != call.CauseUnreachable || !strings.Contains(e.Reason, "no-such-host.invalid") {
		t.Errorf("no such host: %+v", e)
	}
	a.routes.route.Codecs = []string{"MP3"}
	if err := dial(); callwright.CodeOf(err) != callwright.CodeInternal {
		t.Errorf("a codec that nobody knows: %v", err)
	}
}

func TestNoMediaPortIsFree(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	a.media.full = true
	address, accept := listenWire(t, "127.0.0.1")
	a.callsTo(t, address)
	_, err := a.Dial(within(t), call.DialRequest{Org: org, From: alice, To: bob}, nil)
	if e := endingOf(t, err); e.Cause != call.CauseOverload || e.Reason != "no port" {
		t.Errorf("%+v", e)
	}
	accept().silent(5 * testT1)

	c := newCaller(t, a)
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	if r := c.response(503); r.get("Retry-After") == "" {
		t.Errorf("%v", r.header)
	}
}
