package auth_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/internal/auth"
	"github.com/callwright/callwright/adapters/sipua/internal/message"
	trunk "github.com/callwright/callwright/sip"
)

const (
	bob   = callwright.PhoneNumber("+15550100002")
	realm = "127.0.0.1"
)

var (
	from   = netip.MustParseAddr("192.0.2.1")
	secret = trunk.Credentials{Username: "pbx", Password: "geheim"}
)

func invite() *sip.Request {
	return sip.NewRequest(sip.INVITE, sip.Uri{Scheme: "sip", User: bob.String(), Host: realm})
}

// challenged returns a peer's Answers with a new challenge of c.
func challenged(t *testing.T, c *auth.Challenger) *auth.Answers {
	t.Helper()
	got := &auth.Answers{}
	if !got.Add(c.Challenge(from, false).Response(invite(), "")) {
		t.Fatal("the challenge has no answer")
	}
	return got
}

// given returns the Authorization header that a request with the answers contains.
func given(t *testing.T, a *auth.Answers) string {
	t.Helper()
	req := invite()
	if err := a.Authorize(req, secret); err != nil {
		t.Fatal(err)
	}
	return req.GetHeader("Authorization").Value()
}

// answer returns c's result for a request that answers a challenge.
func answer(t *testing.T, c *auth.Challenger, challenge *auth.Answers, with trunk.Credentials) auth.Result {
	t.Helper()
	req := invite()
	if err := challenge.Authorize(req, with); err != nil {
		t.Fatal(err)
	}
	return c.Check(req, bob, from, secret)
}

func TestNoncesGetOld(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	c := auth.NewChallenger(realm, clock)
	check := func(what string, challenge *auth.Answers, with trunk.Credentials, want auth.Result) {
		t.Helper()
		if got := answer(t, c, challenge, with); got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}

	young, old := challenged(t, c), challenged(t, c)
	if text := given(t, young); !strings.Contains(text, "algorithm=SHA-256") {
		t.Errorf("not the strongest: %s", text)
	}
	nonce := func(a *auth.Answers) string {
		c, err := digest.ParseCredentials(given(t, a))
		if err != nil {
			t.Fatal(err)
		}
		return c.Nonce
	}
	if nonce(young) == nonce(old) {
		t.Error("two challenges have one nonce")
	}
	now = now.Add(59 * time.Second)
	check("after 59 s", young, secret, auth.OK)
	check("again", young, secret, auth.Stale)
	now = now.Add(time.Second)
	check("after 60 s", old, secret, auth.Stale)
	other := trunk.Credentials{Username: "pbx", Password: "other"}
	check("after 60 s with another password", old, other, auth.Stale)
	check("a new one with another password", challenged(t, c), other, auth.Wrong)
	check("a new one", challenged(t, c), secret, auth.OK)
	now = now.Add(55 * time.Second)
	again := challenged(t, c)
	check("a new one later", again, secret, auth.OK)
	now = now.Add(15 * time.Second) // a new period of used nonces begins
	check("a new one after that", challenged(t, c), secret, auth.OK)
	check("used 15 s ago", again, secret, auth.Stale)
	if got := answer(t, auth.NewChallenger(realm, clock), challenged(t, c), secret); got != auth.Stale {
		t.Errorf("another process's nonce: %d", got)
	}
	for _, forged := range []string{"", "x", strings.Repeat("A", 64), strings.Repeat("A", 65)} {
		forgery := digest.Challenge{Realm: realm, Nonce: forged, Algorithm: "SHA-256", QOP: []string{"auth"}}
		a := &auth.Answers{}
		a.Add(message.Refusal{Status: 401, Headers: []sip.Header{sip.NewHeader("WWW-Authenticate", forgery.String())}}.Response(invite(), ""))
		check("nonce "+forged, a, secret, auth.Stale)
		check("nonce "+forged+" with another password", a, other, auth.Stale)
	}
}

// TestOneGuessInARequest checks that a request can guess only one password, even if it contains several Authorization headers.
func TestOneGuessInARequest(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := auth.NewChallenger(realm, func() time.Time { return now })
	old := given(t, challenged(t, c))
	now = now.Add(time.Minute)
	right := given(t, challenged(t, c))
	wrong := strings.Replace(given(t, challenged(t, c)), `response="`, `response="0`, 1)
	foreign := strings.Replace(right, `realm="`, `realm="of-a-proxy-`, 1)
	for _, tt := range []struct {
		name    string
		headers []string
		want    auth.Result
	}{
		{"guesses before the right one", []string{wrong, right}, auth.Wrong},
		{"a leftover and a guess", []string{old, wrong, right}, auth.Wrong},
		{"others' and malformed ones", []string{foreign, "Digest nc=zz", "Basic x"}, auth.None},
		{"others', a leftover, then the right one", []string{foreign, "Digest nc=zz", old, right, wrong}, auth.OK},
		{"used up", []string{right}, auth.Stale},
	} {
		req := invite()
		for _, h := range tt.headers {
			req.AppendHeader(sip.NewHeader("Authorization", h))
		}
		if got := c.Check(req, bob, from, secret); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func FuzzAuthorization(f *testing.F) {
	f.Add(`Digest username="pbx", realm="127.0.0.1", nonce="n", uri="sip:+15550100002@127.0.0.1", algorithm=SHA-256, cnonce="c", qop=auth, nc=00000001, response="0"`)
	f.Add(`Digest username="unclosed`)
	f.Add(`Digest nc=zz, uri="tel:", qop=auth, response=`)
	c := auth.NewChallenger(realm, time.Now)
	f.Fuzz(func(t *testing.T, header string) {
		req := invite()
		req.AppendHeader(sip.NewHeader("Authorization", header))
		if got := c.Check(req, bob, from, secret); got == auth.OK {
			t.Errorf("%q is accepted", header)
		}
	})
}

func FuzzChallenge(f *testing.F) {
	f.Add(`Digest realm="r", nonce="n", algorithm=SHA-512-256, qop="auth"`)
	f.Add(`Digest realm="r", nonce="n"`)
	f.Fuzz(func(t *testing.T, header string) {
		for _, status := range []int{sip.StatusUnauthorized, sip.StatusProxyAuthRequired} {
			res := sip.NewResponseFromRequest(invite(), status, "No", nil)
			res.AppendHeader(sip.NewHeader("WWW-Authenticate", header))
			res.AppendHeader(sip.NewHeader("Proxy-Authenticate", header))
			req := invite()
			a := &auth.Answers{}
			if !a.Add(res) || a.Authorize(req, secret) != nil {
				continue
			}
			for _, name := range []string{"Authorization", "Proxy-Authorization"} {
				if len(req.GetHeaders(name)) != 1 {
					t.Errorf("%d: %q is answered with %v", status, header, req.Headers())
				}
			}
		}
	})
}
