package sipua_test

import (
	"cmp"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/sipua"
	trunk "github.com/callwright/callwright/sip"
)

var secret = trunk.Credentials{Username: "pbx", Password: "geheim"}

// proof holds the values of an Authorization header as a peer sends it (RFC 7616, 3.4).
type proof struct {
	algorithm, username, password, realm, nonce, method, uri, qop, nc, cnonce string

	shown string // the username in the header, if it differs from the one in the hash
}

// proofFor returns the correct proof for a call to bob with the given nonce.
func proofFor(nonce string) proof {
	return proof{
		algorithm: "SHA-256", username: secret.Username, password: secret.Password.Reveal(), realm: "127.0.0.1", nonce: nonce,
		method: "INVITE", uri: "sip:" + bob.String() + "@127.0.0.1", qop: "auth", nc: "00000001", cnonce: "c",
	}
}

func (p proof) String() string {
	hash := func(s string) string {
		if p.algorithm == "SHA-256" {
			sum := sha256.Sum256([]byte(s))
			return hex.EncodeToString(sum[:])
		}
		sum := md5.Sum([]byte(s))
		return hex.EncodeToString(sum[:])
	}
	a1, a2 := hash(p.username+":"+p.realm+":"+p.password), hash(p.method+":"+p.uri)
	text := fmt.Sprintf(`Digest username="%s", realm="%s", nonce="%s", uri="%s"`, cmp.Or(p.shown, p.username), p.realm, p.nonce, p.uri)
	if p.algorithm != "" {
		text += ", algorithm=" + p.algorithm
	}
	response := hash(a1 + ":" + p.nonce + ":" + a2)
	if p.qop != "" {
		response = hash(strings.Join([]string{a1, p.nonce, p.nc, p.cnonce, p.qop, a2}, ":"))
		text += fmt.Sprintf(`, cnonce="%s", qop=%s, nc=%s`, p.cnonce, p.qop, p.nc)
	}
	return text + fmt.Sprintf(`, response="%s"`, response)
}

// challenging returns an agent whose trunk has credentials.
func challenging(t testing.TB) *agent {
	t.Helper()
	a := newAgent(t, nil)
	a.routes.route.Credentials = secret
	return a
}

// param returns the value of a parameter in a challenge.
func param(challenge, name string) string {
	_, value, _ := strings.Cut(challenge, name+"=")
	value, _, _ = strings.Cut(strings.TrimPrefix(value, `"`), `"`)
	return value
}

// challenged sends an INVITE and returns the nonce of the resulting 401.
func (c *caller) challenged(extra ...string) string {
	c.t.Helper()
	c.ask("INVITE", offerSDP("RTP/SAVP"), extra...)
	r := c.response(401)
	c.ask("ACK", "")
	return param(r.get("WWW-Authenticate"), "nonce")
}

// comesIn waits until the agent has accepted a call and the caller has received 180.
func (c *caller) comesIn(a *agent) {
	c.t.Helper()
	if _, err := a.Accept(within(c.t)); err != nil {
		c.t.Fatal(err)
	}
	c.response(180)
}

func TestChallenge(t *testing.T) {
	t.Parallel()
	a := challenging(t)
	c := newCaller(t, a)
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	r := c.response(401)
	asks := r.header["Www-Authenticate"]
	if len(asks) != 2 || !strings.Contains(asks[0], "algorithm=SHA-256") || !strings.Contains(asks[1], "algorithm=MD5") {
		t.Fatalf("%v", asks)
	}
	for _, ask := range asks {
		if param(ask, "realm") != "127.0.0.1" || param(ask, "qop") != "auth" || param(ask, "nonce") == "" || strings.Contains(ask, "stale") {
			t.Errorf("%s", ask)
		}
	}
	if r.get("Server") != "" || a.Calls() != 0 || len(a.media.sessions) != 0 {
		t.Errorf("%v, %d calls, %d media sessions", r.header, a.Calls(), len(a.media.sessions))
	}
}

func TestCallersProveThemselves(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*proof) []string{
		"SHA-256":               func(*proof) []string { return nil },
		"MD5":                   func(p *proof) []string { p.algorithm = "MD5"; return nil },
		"no algorithm":          func(p *proof) []string { p.algorithm = ""; return nil },
		"another host":          func(p *proof) []string { p.uri = "sip:" + bob.String() + "@proxy.test;transport=tls"; return nil },
		"a tel URI":             func(p *proof) []string { p.uri = "tel:" + bob.String(); return nil },
		"the host alone":        func(p *proof) []string { p.uri = "sip:127.0.0.1"; return nil },
		"a count that jumps":    func(p *proof) []string { p.nc = "000000ff"; return nil },
		"others for a proxy":    func(*proof) []string { return []string{`Digest username="x", realm="proxy", nonce="n", response="r"`} },
		"others of a scheme":    func(*proof) []string { return []string{"Bearer abc"} },
		"one that is malformed": func(*proof) []string { return []string{`Digest username="unclosed`} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := challenging(t)
			c := newCaller(t, a)
			p := proofFor(c.challenged())
			var headers []string
			for _, other := range change(&p) {
				headers = append(headers, "Authorization: "+other)
			}
			c.ask("INVITE", offerSDP("RTP/SAVP"), append(headers, "Authorization: "+p.String())...)
			c.comesIn(a)
		})
	}
}

func TestWrongProofs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*proof)
		raw    string
	}{
		"password":          {change: func(p *proof) { p.password = "other" }},
		"user name":         {change: func(p *proof) { p.username = "other" }},
		"another number":    {change: func(p *proof) { p.uri = "sip:" + alice.String() + "@127.0.0.1" }},
		"no URI":            {change: func(p *proof) { p.uri = "" }},
		"another method":    {change: func(p *proof) { p.method = "REGISTER" }},
		"unknown algorithm": {change: func(p *proof) { p.algorithm = "SHA-512" }},
		"no qop":            {change: func(p *proof) { p.qop = "" }},
		"qop auth-int":      {change: func(p *proof) { p.qop = "auth-int" }},
		"no count":          {change: func(p *proof) { p.nc = "00000000" }},
		"negative count":    {change: func(p *proof) { p.nc = "-1" }},
		"another realm":     {change: func(p *proof) { p.realm = "example.test" }},
		"name beside it":    {change: func(p *proof) { p.shown = "other" }},
		"malformed":         {raw: `Digest username="unclosed`},
		"empty":             {raw: "Digest "},
		"basic":             {raw: "Basic cGJ4OmdlaGVpbQ=="},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := challenging(t)
			c := newCaller(t, a)
			p := proofFor(c.challenged())
			if tt.change != nil {
				tt.change(&p)
				tt.raw = p.String()
			}
			c.ask("INVITE", offerSDP("RTP/SAVP"), "Authorization: "+tt.raw)
			if r := c.response(401); strings.Contains(r.get("WWW-Authenticate"), "stale") || a.Calls() != 0 {
				t.Errorf("%v, %d calls", r.header, a.Calls())
			}
		})
	}
}

func TestReplayedProof(t *testing.T) {
	t.Parallel()
	a := challenging(t)
	first := newCaller(t, a)
	p := proofFor(first.challenged())
	first.ask("INVITE", offerSDP("RTP/SAVP"), "Authorization: "+p.String())
	first.comesIn(a)
	second := newCaller(t, a)
	second.ask("INVITE", offerSDP("RTP/SAVP"), "Authorization: "+p.String())
	if r := second.response(401); !strings.Contains(r.get("WWW-Authenticate"), "stale=true") {
		t.Errorf("%v", r.header)
	}
	third := newCaller(t, a)
	p.nc = "00000002"
	third.ask("INVITE", offerSDP("RTP/SAVP"), "Authorization: "+p.String())
	third.comesIn(a)
	fourth := callerOver(dialWireFrom(t, a, "127.0.0.2"), a)
	p.nc = "00000003"
	fourth.ask("INVITE", offerSDP("RTP/SAVP"), "Authorization: "+p.String())
	if r := fourth.response(401); !strings.Contains(r.get("WWW-Authenticate"), "stale=true") {
		t.Errorf("a nonce of another source: %v", r.header)
	}
}

func TestGuessingIsCutShort(t *testing.T) {
	t.Parallel()
	a := challenging(t)
	c := newCaller(t, a)
	p := proofFor(c.challenged())
	for range 3 {
		guess := p
		guess.password = "guess"
		p.nonce = c.challenged("Authorization: " + guess.String())
	}
	c.ask("INVITE", offerSDP("RTP/SAVP"), "Authorization: "+p.String())
	if r := c.response(403); !isBare(r) {
		t.Errorf("%v", r.header)
	}
	a.routes.mu.Lock()
	a.routes.route.TrunkID = "somebody else's behind the same address"
	a.routes.mu.Unlock()
	c.ask("INVITE", offerSDP("RTP/SAVP"), "Authorization: "+p.String())
	c.comesIn(a)
}

// TestForgedNoncesAreNotCounted checks that credentials for nonces that the server has not issued do not count as guesses, and that the
// response does not reveal whether they are correct. Anyone can invent such nonces.
func TestForgedNoncesAreNotCounted(t *testing.T) {
	t.Parallel()
	for name, trusted := range map[string]bool{"a stranger": false, "a carrier": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t, func(c *sipua.Config) { c.Trusted = func(netip.Addr) bool { return trusted } })
			a.routes.route.Credentials = secret
			forger := newCaller(t, a)
			for i, password := range []string{"guess", "guess", "guess", secret.Password.Reveal()} {
				forger.from = fmt.Sprintf("<sip:x%d@evil.test>;tag=f", i)
				p := proofFor("made-up")
				p.password = password
				forger.ask("INVITE", offerSDP("RTP/SAVP"), "Authorization: "+p.String())
				if r := forger.response(401); !strings.Contains(r.get("WWW-Authenticate"), "stale=true") {
					t.Errorf("%s shows what it is worth: %v", password, r.header)
				}
				forger.ask("ACK", "")
			}
			c := newCaller(t, a)
			c.ask("INVITE", offerSDP("RTP/SAVP"), "Authorization: "+proofFor(c.challenged()).String())
			c.comesIn(a)
		})
	}
}

// TestGuessesBehindACarrier checks that behind a carrier's address wrong credentials block the guessing caller, and after many guesses all
// callers that have not authenticated. Authenticated callers can still call.
func TestGuessesBehindACarrier(t *testing.T) {
	t.Parallel()
	a := newAgent(t, func(c *sipua.Config) {
		c.InvitesPerSecond = 10_000
		c.Trusted = func(netip.Addr) bool { return true }
	})
	a.routes.route.Credentials = secret
	calls := func(caller string) *caller {
		c := newCaller(t, a)
		c.from = "<sip:" + caller + "@carrier.test>;tag=c"
		return c
	}
	comesIn := func(name string) {
		t.Helper()
		c := calls(name)
		c.ask("INVITE", offerSDP("RTP/SAVP"), "Authorization: "+proofFor(c.challenged()).String())
		c.comesIn(a)
	}
	comesIn("customer")
	guess := func(name string, times int) *caller {
		c := calls(name)
		for range times {
			p := proofFor(c.challenged())
			p.password = "guess"
			c.ask("INVITE", offerSDP("RTP/SAVP"), "Authorization: "+p.String())
			c.response(401)
			c.ask("ACK", "")
		}
		return c
	}
	refused := func(c *caller, times int) {
		t.Helper()
		for range times {
			c.ask("INVITE", offerSDP("RTP/SAVP"))
			if r := c.response(403); !isBare(r) {
				t.Fatalf("%v", r.header)
			}
			c.ask("ACK", "")
		}
	}
	refused(guess("guesser", 3), 1)
	comesIn("new customer")
	for i := range 19 {
		guess(fmt.Sprint("guesser", i), 3)
	}
	refused(calls("a last one"), 70) // above the limit of refused calls for a caller or a number
	comesIn("customer")
}
