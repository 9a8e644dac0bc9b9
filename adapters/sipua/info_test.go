package sipua_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/sipua"
	trunk "github.com/callwright/callwright/sip"
)

// inform sends an in-dialog INFO with a body of the given content type.
func (c *caller) inform(kind, body string) {
	c.t.Helper()
	c.branch++
	c.cseq++
	lines := []string{
		"INFO " + c.target + " SIP/2.0", "Via: SIP/2.0/TLS " + c.conn.LocalAddr().String() + ";branch=z9hG4bKinfo" + strconv.Itoa(c.branch),
		"Max-Forwards: 70", "From: <sip:" + alice.String() + "@peer.test>;tag=peer", "To: <" + c.uri + ">;tag=" + c.tag,
		"Call-ID: " + c.callID, "CSeq: " + strconv.Itoa(c.cseq) + " INFO", "Content-Type: " + kind,
		"Content-Length: " + strconv.Itoa(len(body)), "", body,
	}
	c.raw(strings.Join(lines, "\r\n"))
}

// TestDigitsByInfo checks that a trunk with DTMFInfo accepts digits in both body formats of INFO. An INFO of another type, or with a
// malformed body, is refused without ending the call.
func TestDigitsByInfo(t *testing.T) {
	t.Parallel()
	a := newAgent(t, func(cfg *sipua.Config) { cfg.Media = newMedia(t) })
	a.routes.mu.Lock()
	a.routes.route.DTMF = trunk.DTMFInfo
	a.routes.mu.Unlock()
	legs, c := answer(t, a), newCaller(t, a)
	if ok := c.connected(); !strings.HasSuffix(ok.get("Allow"), ", INFO") {
		t.Errorf("Allow: %s", ok.get("Allow"))
	}
	l := legOf(t, legs)
	for _, tt := range []struct {
		kind, body string
		status     int
	}{
		{"application/dtmf-relay", "Signal=1\r\nDuration=160\r\n", 200},
		{"application/dtmf-relay", "Signal= *\nDuration= 100", 200},
		{"application/dtmf-relay; charset=utf-8", "duration=100\r\nsignal=11\r\n", 200},
		{"application/dtmf", "5", 200},
		{"Application/DTMF", " d\r\n", 200},
		{"application/dtmf-relay", "Signal=!\r\nDuration=160\r\n", 200},
		{"application/dtmf", "", 200},
		{"application/dtmf", "x", 400},
		{"application/dtmf-relay", "Duration=160\r\n", 400},
		{"application/media_control+xml", "<x/>", 415},
	} {
		c.inform(tt.kind, tt.body)
		if r := c.response(tt.status); tt.status == 415 && r.get("Accept") != "application/dtmf-relay, application/dtmf" {
			t.Errorf("%v", r.header)
		}
	}
	want, got := "1*#5D", ""
	for len(got) < len(want) {
		f, err := l.Read(within(t))
		if err != nil {
			t.Fatal(err)
		}
		if f.Digit != 0 {
			got += string(f.Digit)
		}
	}
	if got != want {
		t.Errorf("the digits are %q", got)
	}
	c.ask("BYE", "")
	c.response(200)
	ends(t, l)
}
