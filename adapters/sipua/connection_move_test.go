package sipua_test

import (
	"crypto/tls"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/sip/uri"
)

// over returns the caller with another connection in the same dialog, like a peer whose connection has broken.
func (c *caller) over(w *wire) *caller {
	next := *c
	next.wire = w
	return &next
}

// reinvited sends a re-INVITE over the current connection and waits for its 200.
func (c *caller) reinvited() {
	c.t.Helper()
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	c.response(200)
	c.ask("ACK", "")
}

// TestDialogFollowsItsConnection checks that a REFER and a BYE use the connection of the peer's last request, regardless of its Contact.
func TestDialogFollowsItsConnection(t *testing.T) {
	t.Parallel()
	for _, breaks := range []bool{true, false} {
		a := newAgent(t, nil)
		legs := answer(t, a)
		c := newCaller(t, a)
		c.connected()
		l := legOf(t, legs)
		moved := c.over(dialWire(t, a))
		if breaks {
			_ = c.conn.Close()
			<-c.closed
		}
		moved.reinvited()
		result := make(chan error, 1)
		ctx := within(t)
		go func() { result <- l.Transfer(ctx, "+15550100009") }()
		moved.reply(moved.request("REFER"), 603, "", "")
		if err := <-result; err == nil {
			t.Error("the transfer is done")
		}
		back := moved.over(dialWireFrom(t, a, "127.0.0.2")) // and again, from another address
		back.ask("OPTIONS", "")
		back.response(200)
		go func() { _ = l.Hangup(ctx) }()
		back.reply(back.request("BYE"), 200, "", "")
		if e := ends(t, l); e.Cause != call.CauseLocalHangup || e.Unconfirmed {
			t.Errorf("%+v", e)
		}
	}
}

// TestCalleeComesOverItsOwnConnection checks that the callee of an outbound call may send requests over a new connection, and that the BYE
// uses it, although Record-Route and Contact lead elsewhere.
func TestCalleeComesOverItsOwnConnection(t *testing.T) {
	t.Parallel()
	p := place(t, nil)
	p.peer.reply(p.invite, 200, "x", answerSDP(), "Record-Route: <sip:"+p.peer.conn.LocalAddr().String()+";transport=tls;lr>",
		"Contact: <sip:peer@192.0.2.1:9;transport=tls>")
	p.peer.request("ACK")
	l := p.leg()
	w := dialWire(t, p.agent)
	w.send("", "OPTIONS "+strings.Trim(p.invite.get("Contact"), "<>")+" SIP/2.0",
		"Via: SIP/2.0/TLS "+w.conn.LocalAddr().String()+";branch=z9hG4bKcallee", "Max-Forwards: 70",
		"From: "+p.invite.get("To")+";tag=x", "To: "+p.invite.get("From"), "Call-ID: "+p.invite.get("Call-Id"), "CSeq: 1 OPTIONS")
	w.response(200)
	go func() { _ = l.Hangup(t.Context()) }()
	w.reply(w.request("BYE"), 200, "", "")
	ends(t, l)
	eventually(t, "nobody holds the connection", func() bool { return p.Held() == 0 })
}

// TestRefreshFollowsTheConnection checks that a session refresh uses the connection of the callee's last request.
func TestRefreshFollowsTheConnection(t *testing.T) {
	t.Parallel()
	p := place(t, nil)
	w := dialWire(t, p.agent)
	p.peer.reply(p.invite, 200, "x", answerSDP(), "Session-Expires: 12;refresher=uac") // due for a refresh after 6 s
	p.peer.request("ACK")
	l := p.leg()
	w.send("", "OPTIONS "+strings.Trim(p.invite.get("Contact"), "<>")+" SIP/2.0",
		"Via: SIP/2.0/TLS "+w.conn.LocalAddr().String()+";branch=z9hG4bKcallee", "Max-Forwards: 70",
		"From: "+p.invite.get("To")+";tag=x", "To: "+p.invite.get("From"), "Call-ID: "+p.invite.get("Call-Id"), "CSeq: 1 OPTIONS")
	w.response(200)
	again := w.request("INVITE")
	if again.get("Call-Id") != p.invite.get("Call-Id") || again.toTag() != "x" || again.get("Session-Expires") != "12;refresher=uac" {
		t.Errorf("%s\n%v", again.start, again.header)
	}
	w.reply(again, 200, "", answerSDP())
	w.request("ACK")
	go func() { _ = l.Hangup(t.Context()) }()
	w.reply(w.request("BYE"), 200, "", "")
	if e := ends(t, l); e.Unconfirmed {
		t.Errorf("%+v", e)
	}
}

// TestNotifyFollowsTheConnection checks that the NOTIFYs of a REFER use the connection of the peer's last request.
func TestNotifyFollowsTheConnection(t *testing.T) {
	t.Parallel()
	for _, breaks := range []bool{true, false} {
		r := newReferring(t, nil)
		r.refer()
		w, invite := r.invited()
		first := r.wire
		r.caller = r.over(dialWire(t, r.agent))
		if breaks {
			_ = first.conn.Close()
			<-first.closed
		}
		r.ask("OPTIONS", "")
		r.response(200)
		w.reply(invite, 180, "target", "")
		r.told("SIP/2.0 180 Ringing", false)
		r.caller = r.over(dialWireFrom(t, r.agent, "127.0.0.2"))
		r.ask("OPTIONS", "")
		r.response(200)
		w.reply(invite, 486, "target", "")
		w.request("ACK")
		r.told("SIP/2.0 486 Busy Here", true)
		r.goesOn()
		r.ask("BYE", "")
		r.response(200)
		ends(t, r.leg)
	}
}

// TestContactAtAnAddressIsVerified checks that a new connection to a Contact is verified with the trunk's host, the name in the caller's
// verified certificate, or the Contact's address. If no name matches, the BYE is not sent, and the record says that the end is unconfirmed.
func TestContactAtAnAddressIsVerified(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		certificate string // name in the certificate of the server at the Contact
		trunk       string // host of the trunk's server; may be empty
		shown       string // name in the caller's certificate; empty if the caller presents none
		reached     bool
	}{
		"the trunk's host":              {"sbc.test", "sbc.test", "", true},
		"the name that the caller has":  {"sbc.test", "", "sbc.test", true},
		"the address":                   {"127.0.0.1", "sbc.test", "", true},
		"another name":                  {"other.test", "sbc.test", "third.test", false},
		"no name is known":              {"sbc.test", "", "", false},
		"a name that nobody has proved": {"sbc.test", "", "127.0.0.1", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, records := watched(t, nil)
			if tt.trunk != "" {
				a.routes.route.Servers = []uri.URI{{Scheme: uri.SIP, Host: tt.trunk}}
			}
			address, accept := listenWire(t, tt.certificate)
			legs := answer(t, a)
			c := callerOver(dialShowing(t, a, tt.shown), a)
			c.contact = "sip:sbc@" + address + ";transport=tls"
			c.connected()
			l := legOf(t, legs)
			_ = c.conn.Close()
			<-c.closed
			us := netip.MustParseAddrPort(c.conn.LocalAddr().String())
			eventually(t, "we notice", func() bool { return !a.Known(us) })
			go func() { _ = l.Hangup(t.Context()) }()
			if tt.reached {
				w := accept()
				w.reply(w.request("BYE"), 200, "", "")
			}
			e := ends(t, l)
			record := records.all(t, 1)[0].ended
			if e.Cause != call.CauseLocalHangup || e.Unconfirmed == tt.reached || strings.Contains(record.Reason, "not confirmed") == tt.reached {
				t.Errorf("%+v, %+v", e, record)
			}
		})
	}
}

// TestByeWithoutAnAnswer checks the record of a call whose peer does not answer our BYE. The record must say that the peer may still be in
// the call.
func TestByeWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	a, records := watched(t, nil)
	legs := answer(t, a)
	c := newCaller(t, a)
	c.connected()
	l := legOf(t, legs)
	go func() { _ = l.Hangup(t.Context()) }()
	c.request("BYE")
	if e := ends(t, l); !e.Unconfirmed || e.Cause != call.CauseLocalHangup {
		t.Errorf("%+v", e)
	}
	if r := records.all(t, 1)[0].ended; !strings.Contains(r.Reason, "may still be in the call") || r.SIPCode != 200 {
		t.Errorf("%+v", r)
	}
}

// dialShowing returns a connection whose client presents a certificate for a name, or no certificate if the name is empty.
func dialShowing(t testing.TB, a *agent, name string) *wire {
	t.Helper()
	_, pool := issue(t, "unused")
	cfg := &tls.Config{RootCAs: pool, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}
	if name != "" {
		cert, _ := issue(t, name)
		cfg.Certificates = []tls.Certificate{cert}
	}
	d := tls.Dialer{NetDialer: &net.Dialer{Timeout: patience}, Config: cfg}
	conn, err := d.DialContext(within(t), "tcp", a.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return newWire(t, conn.(*tls.Conn))
}
