package sipua_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua"
	trunk "github.com/callwright/callwright/sip"
)

// isBare reports whether a message is a 403 with only the headers that a response requires.
func isBare(m message) bool {
	names := slices.Sorted(maps.Keys(m.header))
	return m.start == "SIP/2.0 403 Forbidden" && m.body == "" &&
		slices.Equal(names, []string{"Call-Id", "Content-Length", "Cseq", "From", "To", "Via"})
}

func TestScannersLearnNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*agent, *caller){
		"a number that nobody has":     func(a *agent, _ *caller) { a.routes.inbound = callwright.NotFound("number") },
		"a source that may not":        func(a *agent, _ *caller) { a.routes.inbound = callwright.ErrForbidden },
		"no number":                    func(_ *agent, c *caller) { c.uri, c.target = "sip:100@example.test", "sip:100@example.test" },
		"no user":                      func(_ *agent, c *caller) { c.uri, c.target = "sip:example.test", "sip:example.test" },
		"an extension that we lack":    func(a *agent, _ *caller) { a.routes.inbound = callwright.ErrForbidden },
		"a body that can't be offered": func(a *agent, _ *caller) { a.routes.inbound = callwright.ErrForbidden },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t, func(c *sipua.Config) { c.UserAgent = "callwright/1.2.3" })
			c := newCaller(t, a)
			change(a, c)
			body, extra := offerSDP("RTP/SAVP"), []string(nil)
			switch name {
			case "an extension that we lack":
				extra = []string{"Require: 100rel"}
			case "a body that can't be offered":
				body = offerSDP("RTP/AVP")
			}
			c.ask("INVITE", body, extra...)
			if r := c.next(); !isBare(r) {
				t.Errorf("%s %v", r.start, r.header)
			}
			if a.Calls() != 0 || len(a.media.sessions) != 0 {
				t.Errorf("%d calls, %d media sessions", a.Calls(), len(a.media.sessions))
			}
		})
	}
}

func TestProbesAreAnsweredWithoutAName(t *testing.T) {
	t.Parallel()
	a := newAgent(t, func(c *sipua.Config) { c.UserAgent = "callwright/1.2.3" })
	a.routes.inbound = callwright.ErrForbidden
	c := newCaller(t, a)
	for method, status := range map[string]int{"OPTIONS": 200, "REGISTER": 405, "SUBSCRIBE": 405, "FOO": 501} {
		c.ask(method, "")
		r := c.response(status)
		if r.get("Server") != "" || r.get("User-Agent") != "" || strings.Contains(fmt.Sprint(r), "callwright") {
			t.Errorf("%s: %v", method, r.header)
		}
	}
}

// TestScannersAreCutOff checks that a source is blocked after 20 refused calls, unless an admitted call has come from it.
func TestScannersAreCutOff(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	a.routes.judge = func(to callwright.PhoneNumber, _ trunk.Peer) error {
		if to != bob {
			return callwright.NotFound("number")
		}
		return nil
	}
	carrier := callerOver(dialWireFrom(t, a, "127.0.0.2"), a)
	carrier.ask("INVITE", offerSDP("RTP/SAVP"))
	carrier.comesIn(a)
	other := callerOver(dialWireFrom(t, a, "127.0.0.2"), a)
	other.target = "sip:+15550199999@x.test"
	for range 25 {
		other.ask("INVITE", offerSDP("RTP/SAVP"))
		other.response(403)
	}

	scanner := newCaller(t, a)
	scanner.target = "sip:+15550199999@x.test"
	for range 20 {
		scanner.ask("INVITE", offerSDP("RTP/SAVP"))
		scanner.response(403)
	}
	scanner.ask("OPTIONS", "")
	scanner.hungUp()
	if conn, err := dialFrom(t, a, "127.0.0.1"); err == nil {
		_ = conn.Close()
		t.Error("it may connect again")
	}
	other.ask("OPTIONS", "")
	other.response(200)
}

// TestFloodOfStrangers checks that INVITEs to unknown numbers use no slots, and that their slow route lookups do not delay other callers.
func TestFloodOfStrangers(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	a := newAgent(t, func(c *sipua.Config) { c.MaxCalls, c.InvitesPerSecond = 2, 100 })
	a.routes.judge = func(to callwright.PhoneNumber, _ trunk.Peer) error {
		if to == bob {
			return nil
		}
		<-release
		return callwright.NotFound("number")
	}
	flood := callerOver(dialWireFrom(t, a, "127.0.0.2"), a)
	flood.ask("INVITE", offerSDP("RTP/SAVP"))
	flood.comesIn(a) // an admitted call, so that the source is not blocked
	flood.target = "sip:+15550199999@x.test"
	for range 90 {
		flood.ask("INVITE", offerSDP("RTP/SAVP"))
	}
	c := newCaller(t, a)
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	c.comesIn(a)
	close(release)
	for range 90 {
		if m := flood.final(); m.status() != 403 && (m.status() != 503 || m.get("Retry-After") == "") {
			t.Errorf("%s %v", m.start, m.header)
		}
	}
	if n := a.Calls(); n != 2 {
		t.Errorf("%d calls", n)
	}
}

// final returns the next final response, and skips provisional ones.
func (c *caller) final() message {
	c.t.Helper()
	for {
		if m := c.next(); m.status() >= 200 {
			return m
		}
	}
}

func TestTooManyInvites(t *testing.T) {
	t.Parallel()
	a := newAgent(t, func(c *sipua.Config) { c.InvitesPerSecond = 1 })
	c := newCaller(t, a)
	refused := 0
	for range 30 {
		c.cseq += 10
		c.callID += "x"
		c.ask("INVITE", offerSDP("RTP/SAVP"))
		if m := c.next(); m.status() == 503 && m.get("Retry-After") != "" {
			refused++
		}
	}
	if refused == 0 {
		t.Error("none of 30 INVITEs at once is refused")
	}
}

func TestTooManyCallsFromOneSource(t *testing.T) {
	t.Parallel()
	a := newAgent(t, func(c *sipua.Config) { c.MaxCallsPerIP = 1 })
	first := newCaller(t, a)
	first.ask("INVITE", offerSDP("RTP/SAVP"))
	first.comesIn(a)
	second := newCaller(t, a)
	second.ask("INVITE", offerSDP("RTP/SAVP"))
	second.response(503)
	other := callerOver(dialWireFrom(t, a, "127.0.0.2"), a)
	other.ask("INVITE", offerSDP("RTP/SAVP"))
	other.comesIn(a)
	first.ask("CANCEL", "")
	eventually(t, "the first call is gone", func() bool { return a.Calls() == 1 })
	second.ask("INVITE", offerSDP("RTP/SAVP"))
	second.comesIn(a)
}
