package sipua_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestRequestsInTheDialog(t *testing.T) {
	t.Parallel()
	_, c, _ := taking(t)
	c.connected()
	for _, tt := range []struct {
		method string
		status int
	}{
		{"OPTIONS", 200}, {"REFER", 400}, {"NOTIFY", 481}, {"INFO", 405}, {"UPDATE", 405}, {"PRACK", 405}, {"FOO", 501},
	} {
		c.ask(tt.method, "")
		if r := c.response(tt.status); tt.status == 405 && (r.get("Allow") == "" || allows(r, tt.method)) {
			t.Errorf("%s: %v", tt.method, r.header)
		}
	}
	c.cseq -= 6
	c.ask("OPTIONS", "") // its CSeq is lower than the last one in the dialog
	c.response(500)
}

// allows reports whether the Allow header of a message contains a method.
func allows(m message, method string) bool {
	return slices.Contains(strings.Split(m.get("Allow"), ", "), method)
}

// TestUpdateIsNotOffered checks that UPDATE is refused, even as a session refresh (RFC 4028), and that no Allow header contains it. Peers
// then refresh with a re-INVITE.
func TestUpdateIsNotOffered(t *testing.T) {
	t.Parallel()
	_, c, _ := taking(t)
	session := []string{"Session-Expires: 120;refresher=uac", "Supported: timer"}
	ok := c.connected(session...)
	c.ask("UPDATE", "", session...)
	refused := c.response(405)
	c.ask("OPTIONS", "")
	options := c.response(200)
	for _, m := range []message{ok, refused, options} {
		if !allows(m, "INVITE") || allows(m, "UPDATE") {
			t.Errorf("%s: Allow %q", m.start, m.get("Allow"))
		}
	}
	c.ask("INVITE", offerSDP("RTP/SAVP"), session...)
	if again := c.response(200); again.get("Session-Expires") != "120;refresher=uac" {
		t.Errorf("%v", again.header)
	}
	c.ask("ACK", "")
	if p := place(t, nil); allows(p.invite, "UPDATE") || !allows(p.invite, "INVITE") {
		t.Errorf("our INVITE: Allow %q", p.invite.get("Allow"))
	}
}

func TestRequestsOutsideADialog(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	c := newCaller(t, a)
	for _, tt := range []struct {
		method string
		status int
	}{
		{"OPTIONS", 200}, {"BYE", 481}, {"CANCEL", 481}, {"NOTIFY", 481}, {"REFER", 603}, {"INFO", 405}, {"REGISTER", 405},
		{"SUBSCRIBE", 405}, {"MESSAGE", 405}, {"FOO", 501},
	} {
		c.ask(tt.method, "")
		r := c.response(tt.status)
		if allow := r.get("Allow"); (tt.status == 405 || tt.method == "OPTIONS") && allow != "INVITE, ACK, BYE, CANCEL, OPTIONS, REFER, NOTIFY" {
			t.Errorf("%s: Allow %q", tt.method, allow)
		}
	}
	c.tag = "nobody"
	c.ask("ACK", "")
	c.ask("BYE", "")
	c.response(481)
	a.Drain()
	c.tag = ""
	c.ask("OPTIONS", "")
	c.response(503)
}

func TestSomebodyElsesTag(t *testing.T) {
	t.Parallel()
	_, c, legs := taking(t)
	c.connected()
	l := legOf(t, legs)
	c.send("", "BYE "+c.target+" SIP/2.0", "Via: SIP/2.0/TLS x;branch=z9hG4bKforged", "Max-Forwards: 70",
		"From: <sip:mallory@example.test>;tag=guessed", "To: <"+c.uri+">;tag="+c.tag, "Call-ID: "+c.callID, "CSeq: 2 BYE")
	c.response(481)
	select {
	case <-l.Done():
		t.Error("a stranger ended the call")
	default:
	}
}

func TestMergedInvite(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	c := newCaller(t, a)
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	if _, err := a.Accept(within(t)); err != nil {
		t.Fatal(err)
	}
	c.response(180)
	c.cseq-- // sends the same INVITE with another branch
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	c.response(482)
}

func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	const (
		via  = "Via: SIP/2.0/TLS x;branch=z9hG4bK%d"
		from = "From: <sip:a@b>;tag=t"
		to   = "To: <sip:+15550100002@b>"
		id   = "Call-ID: malformed-%d"
		seq  = "CSeq: 1 INVITE"
		hops = "Max-Forwards: 70"
		con  = "Contact: <sip:a@b>"
	)
	for i, tt := range []struct {
		name   string
		status int
		start  string
		lines  []string
	}{
		{"two Call-IDs", 400, "", []string{via, from, to, id, id, seq, hops, con}},
		{"compact and long Call-ID", 400, "", []string{via, from, to, id, "i: other", seq, hops, con}},
		{"two Content-Lengths", 400, "", []string{via, from, to, id, seq, hops, con, "Content-Length: 0"}},
		{"no From", 400, "", []string{via, to, id, seq, hops, con}},
		{"no From tag", 400, "", []string{via, "From: <sip:a@b>", to, id, seq, hops, con}},
		{"no To", 400, "", []string{via, from, id, seq, hops, con}},
		{"no Call-ID", 400, "", []string{via, from, to, seq, hops, con}},
		{"CSeq of another method", 400, "", []string{via, from, to, id, "CSeq: 1 BYE", hops, con}},
		{"two CSeqs", 400, "", []string{via, from, to, id, seq, "CSeq: 2 INVITE", hops, con}},
		{"no Contact", 400, "", []string{via, from, to, id, seq, hops}},
		{"star as Contact", 400, "", []string{via, from, to, id, seq, hops, "Contact: *"}},
		{"NUL in a header", 400, "", []string{via, from, to, id, seq, hops, con, "X-A: a\x00b"}},
		{"long Call-ID", 400, "", []string{via, from, to, "Call-ID: " + strings.Repeat("a", 1025), seq, hops, con}},
		{"200 headers", 400, "", append(slices.Repeat([]string{"X-A: b"}, 200), via, from, to, id, seq, hops, con)},
		{"another version", 505, "INVITE sip:+15550100002@b SIP/7.0", []string{via, from, to, id, seq, hops, con}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := dialWire(t, a)
			if tt.start == "" {
				tt.start = "INVITE sip:+15550100002@b SIP/2.0"
			}
			lines := []string{tt.start}
			for _, line := range tt.lines {
				if strings.Contains(line, "%d") {
					line = fmt.Sprintf(line, i)
				}
				lines = append(lines, line)
			}
			w.send("", lines...)
			if m := w.next(); m.status() != tt.status { // a 100 before it would mean that the request was taken for a call
				t.Errorf("%s", m.start)
			}
		})
	}
}
