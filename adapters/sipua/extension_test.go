package sipua_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/call"
)

// TestRequiredExtensions checks that a request that requires unsupported extensions receives 420 with a list of them (RFC 3261, 8.2.2.3).
func TestRequiredExtensions(t *testing.T) {
	t.Parallel()
	const require = "Require: timer, nothingSupportsThis, nothingSupportsThisEither"
	_, in, _ := taking(t)
	in.connected()
	out := newCaller(t, newAgent(t, nil))
	for _, c := range []*caller{in, out} {
		for _, method := range []string{"OPTIONS", "REFER", "NOTIFY", "BYE"} {
			c.ask(method, "", require)
			r := c.response(420)
			if got := strings.ToLower(r.get("Unsupported")); got != "nothingsupportsthis, nothingsupportsthiseither" {
				t.Errorf("%s: Unsupported: %q", method, got)
			}
		}
		c.ask("OPTIONS", "", "Require: timer")
		c.response(200)
	}
}

// TestRequireInCancel checks that a CANCEL is never refused for a required extension (RFC 3261, 8.2.2.3).
func TestRequireInCancel(t *testing.T) {
	t.Parallel()
	c := newCaller(t, newAgent(t, nil))
	c.ask("CANCEL", "", "Require: nothingSupportsThis")
	c.response(481)
}

// TestRequireWhileRinging checks that requests in the early dialog of a ringing call receive 420 for an unsupported extension.
func TestRequireWhileRinging(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	c := newCaller(t, a)
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	if _, err := a.Accept(within(t)); err != nil {
		t.Fatal(err)
	}
	c.tag = c.response(180).toTag()
	for _, method := range []string{"OPTIONS", "NOTIFY", "REFER"} {
		c.ask(method, "", "Require: nothingSupportsThis")
		c.response(420)
	}
}

// TestAnotherVersion checks that a response has our SIP version, not the request's (RFC 3261, 7.2; RFC 4475, 3.1.2.16).
func TestAnotherVersion(t *testing.T) {
	t.Parallel()
	c := newCaller(t, newAgent(t, nil))
	for i, version := range []string{"SIP/7.0", "SIP/1.0", "sip/3.0"} {
		c.send("", "OPTIONS "+c.uri+" "+version, fmt.Sprintf("Via: SIP/2.0/TLS x;branch=z9hG4bKv%d", i), "Max-Forwards: 70",
			"From: <sip:a@b>;tag=t", "To: <"+c.uri+">", fmt.Sprintf("Call-ID: version-%d", i), "CSeq: 1 OPTIONS")
		if r := c.response(505); r.start != "SIP/2.0 505 Version Not Supported" {
			t.Errorf("%s is answered with %q", version, r.start)
		}
	}
}

// TestUnknownSchemes checks that a Request-URI with an unknown scheme is refused with 416 (RFC 3261, 8.2.2.1).
func TestUnknownSchemes(t *testing.T) {
	t.Parallel()
	_, in, _ := taking(t)
	in.connected()
	out := newCaller(t, newAgent(t, nil))
	for _, c := range []*caller{in, out} {
		for _, uri := range []string{"nobodyKnowsThisScheme:totallyopaquecontent", "soap.beep://192.0.2.103:3002", "http://peer.test/"} {
			for _, method := range []string{"OPTIONS", "REFER", "BYE"} {
				c.target = uri
				t.Log(uri, method, c == in)
				c.ask(method, "")
				c.response(416)
			}
		}
	}
	out.target = "nobodyKnowsThisScheme:totallyopaquecontent"
	out.ask("INVITE", offerSDP("RTP/SAVP"))
	out.response(416)
	out.target = "tel:+15550100002"
	out.ask("OPTIONS", "")
	out.response(200)
}

// malformed lists requests that the parser refuses. The tests insert Via and Call-ID after the first line.
var malformed = map[string][]string{
	"a line without a colon":      {"OPTIONS sip:a@b SIP/2.0", "From: <sip:a@b>;tag=t", "To: <sip:a@b>", "CSeq: 1 OPTIONS", "no colon here"},
	"a CSeq without a number":     {"OPTIONS sip:a@b SIP/2.0", "From: <sip:a@b>;tag=t", "To: <sip:a@b>", "CSeq: one OPTIONS"},
	"a To that is not closed":     {"OPTIONS sip:a@b SIP/2.0", "From: <sip:a@b>;tag=t", "To: \"bob <sip:a@b>", "CSeq: 1 OPTIONS"},
	"a port that is no number":    {"OPTIONS sip:a@b:port SIP/2.0", "From: <sip:a@b>;tag=t", "To: <sip:a@b>", "CSeq: 1 OPTIONS"},
	"spaces in the request line":  {"OPTIONS  sip:a@b  SIP/2.0", "From: <sip:a@b>;tag=t", "To: <sip:a@b>", "CSeq: 1 OPTIONS"},
	"a Max-Forwards below zero":   {"OPTIONS sip:a@b SIP/2.0", "From: <sip:a@b>;tag=t", "To: <sip:a@b>", "CSeq: 1 OPTIONS", "Max-Forwards: -1"},
	"a Contact that is not a URI": {"INVITE sip:a@b SIP/2.0", "From: <sip:a@b>;tag=t", "To: <sip:a@b>", "CSeq: 1 INVITE", "Contact: <>"},
}

// TestMalformedAmongValid checks that a malformed request is answered with 400, and that the connection and the requests before and after
// it are not affected.
func TestMalformedAmongValid(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	for name, lines := range malformed {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := dialWire(t, a)
			var text strings.Builder
			for _, id := range []string{"first", "broken", "last"} {
				message := []string{"OPTIONS sip:a@b SIP/2.0", "From: <sip:a@b>;tag=t", "To: <sip:a@b>", "CSeq: 1 OPTIONS"}
				if id == "broken" {
					message = lines
				}
				message = slices.Insert(slices.Clone(message), 1, "Via: SIP/2.0/TLS x;branch=z9hG4bK"+id, "Call-ID: "+id)
				text.WriteString(strings.Join(message, "\r\n") + "\r\nContent-Length: 4\r\n\r\nbody")
			}
			w.raw(text.String())
			got := map[string]int{}
			for range 3 {
				m := w.next()
				got[m.get("Call-Id")] = m.status()
				if m.get("Via") != "SIP/2.0/TLS x;branch=z9hG4bK"+m.get("Call-Id") {
					t.Errorf("Via: %q", m.header["Via"])
				}
			}
			if got["first"] != 200 || got["broken"] != 400 || got["last"] != 200 {
				t.Errorf("answers: %v", got)
			}
			c := callerOver(w, a)
			c.ask("OPTIONS", "")
			c.response(200)
		})
	}
}

// TestMalformedBehindOurCall checks that a malformed request over an outbound connection is answered with 400 and does not affect the next
// request.
func TestMalformedBehindOurCall(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	address, accept := listenWire(t, "127.0.0.1")
	a.callsTo(t, address)
	legs := make(chan call.Leg, 1)
	go func() {
		l, err := a.Dial(within(t), call.DialRequest{Org: org, From: alice, To: bob}, nil)
		if err != nil {
			t.Error(err)
		}
		legs <- l
	}()
	w := accept()
	invite := w.request("INVITE")
	w.reply(invite, 200, "peer", answerSDP())
	w.request("ACK")
	l := <-legs
	in := func(method, id string) string {
		return strings.Join([]string{
			method + " sip:a@b SIP/2.0", "Via: SIP/2.0/TLS x;branch=z9hG4bK" + id, "From: " + invite.get("To") + ";tag=peer",
			"To: " + invite.get("From"), "Call-ID: " + invite.get("Call-Id"), "Max-Forwards: 70",
		}, "\r\n") + "\r\n"
	}
	w.raw(in("OPTIONS", "broken") + "CSeq: none OPTIONS\r\nContent-Length: 0\r\n\r\n" +
		in("BYE", "bye") + "CSeq: 2 BYE\r\nContent-Length: 0\r\n\r\n")
	w.response(400)
	w.response(200)
	if e := ends(t, l); e.Cause != call.CauseRemoteHangup {
		t.Errorf("%+v", e)
	}
}
