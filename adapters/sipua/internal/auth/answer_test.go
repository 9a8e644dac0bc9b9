package auth_test

import (
	"strings"
	"testing"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/auth"
	trunk "github.com/callwright/callwright/sip"
)

func challengeFrom(source, header, value string) *sip.Response {
	res := sip.NewResponse(401, "Unauthorized")
	res.AppendHeader(sip.NewHeader(header, "Digest "+value))
	res.SetSource(source)
	return res
}

// TestWhichChallengesAreAnswered checks that a realm's challenge is answered once, and again only for a stale nonce or another address, and
// that the number of realms is limited.
func TestWhichChallengesAreAnswered(t *testing.T) {
	t.Parallel()
	const server, proxy, first, second = "WWW-Authenticate", "Proxy-Authenticate", "192.0.2.1:5061", "192.0.2.2:5061"
	a := &auth.Answers{}
	for _, tt := range []struct {
		name, source, header, value string
		answerable                  bool
	}{
		{"the first", first, server, `realm="r", nonce="1"`, true},
		{"again", first, server, `realm="r", nonce="2"`, false},
		{"stale", first, server, `realm="r", nonce="3", stale=TRUE`, true},
		{"of the other address of the name", second, server, `realm="r", nonce="4"`, true},
		{"of that address again", second, server, `realm="r", nonce="5"`, false},
		{"of a proxy", second, proxy, `realm="r", nonce="6", qop="auth-int"`, true},
		{"with spaces", second, proxy, `realm="s", nonce="7", qop="auth-int , auth"`, true},
		{"an unknown algorithm", second, proxy, `realm="t", nonce="8", algorithm=X`, false},
		{"an unknown quality", second, proxy, `realm="t", nonce="8", qop="x"`, false},
		{"a third realm", second, proxy, `realm="t", nonce="9"`, true},
		{"a fourth", second, proxy, `realm="u", nonce="10"`, true},
		{"one too many", second, proxy, `realm="v", nonce="11"`, false},
	} {
		if got := a.Add(challengeFrom(tt.source, tt.header, tt.value)); got != tt.answerable {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
	req := sip.NewRequest(sip.INVITE, sip.Uri{Scheme: "sip", User: "+1", Host: "pbx.test"})
	if err := a.Authorize(req, trunk.Credentials{Username: "u", Password: "p"}); err != nil {
		t.Fatal(err)
	}
	text := req.String()
	for _, want := range []string{`nonce="5"`, `nonce="6"`, `nonce="7"`, `nonce="9"`, `nonce="10"`} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%s is not answered once:\n%s", want, text)
		}
	}
	if strings.Count(text, "Authorization: ") != 5 {
		t.Errorf("%s", text)
	}
}
