package sipua_test

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua"
	trunk "github.com/callwright/callwright/sip"
)

// isBare says whether a refusal holds nothing but what every answer has to.
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

// A source that is refused again and again is not answered any more; one that others' calls come from is.
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

// INVITEs to numbers that nobody has take no places, and however slowly they are looked up others get through.
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
	flood.comesIn(a) // so it is answered to the last
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

// final is the next final answer.
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

func TestSources(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := sipua.NewSources(5, func() time.Time { return now })
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for i := range 12 {
		if ok := s.Enter(a); ok != (i < 10) {
			t.Errorf("INVITE %d at once: %t", i, ok)
		}
	}
	if !s.Enter(b) {
		t.Error("another source pays for it")
	}
	now = now.Add(time.Second)
	if s.Enter(a) {
		t.Error("as many wait as may, and one more comes in")
	}
	s.Leave(a)
	if !s.Enter(a) {
		t.Error("a second later there is no room")
	}

	for range 19 {
		s.Refuse(a)
	}
	now = now.Add(time.Minute)
	s.Refuse(a)
	if s.Barred(a) {
		t.Error("20 refusals in more than a minute")
	}
	for range 19 {
		s.Refuse(a)
	}
	if !s.Barred(a) || !s.Barred(netip.MustParseAddr("::ffff:192.0.2.1")) || s.Barred(b) {
		t.Error("20 refusals in a minute")
	}
	now = now.Add(10 * time.Minute)
	if s.Barred(a) {
		t.Error("it is barred for ever")
	}
	s.Admit(a)
	for range 30 {
		s.Refuse(a)
	}
	if s.Barred(a) {
		t.Error("a source of good calls is barred")
	}

	v6, neighbor := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	for range 3 {
		s.Mistaken(v6, "t")
	}
	if !s.Mistrusted(neighbor, "t") || s.Mistrusted(neighbor, "u") || s.Mistrusted(a, "t") {
		t.Error("wrong answers count for the source and the trunk")
	}
	now = now.Add(time.Minute)
	if s.Mistrusted(v6, "t") {
		t.Error("they count for ever")
	}
}

func TestSourcesAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := sipua.NewSources(1, func() time.Time { now = now.Add(time.Microsecond); return now })
	waiting := netip.MustParseAddr("192.0.2.1")
	for range 2 {
		if !s.Enter(waiting) {
			t.Fatal("no room")
		}
	}
	a := netip.MustParseAddr("10.0.0.0")
	for range 30_000 {
		a = a.Next()
		s.Refuse(a)
	}
	if n := s.Len(); n > 10_000 {
		t.Errorf("%d sources are remembered", n)
	}
	if s.Enter(waiting) {
		t.Error("one with calls under way is forgotten")
	}
}
