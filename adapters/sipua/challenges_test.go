package sipua_test

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
)

func withPassword(a *agent) {
	a.routes.route.Credentials = trunk.Credentials{Username: "user", Password: callwright.Secret("pass")}
}

// TestSeveralChallenges checks that an INVITE contains the credentials for every proxy and server that has challenged it.
func TestSeveralChallenges(t *testing.T) {
	t.Parallel()
	ask := func(header, realm, nonce string) string {
		return fmt.Sprintf(`%s: Digest realm="%s", nonce="%s", qop="auth"`, header, realm, nonce)
	}
	const server, proxy = "WWW-Authenticate", "Proxy-Authenticate"
	type step struct {
		status int
		asks   []string
		want   []string // nonces in the credentials of the next INVITE; nil if the call fails
	}
	for name, steps := range map[string][]step{
		"a proxy, then the server": {
			{407, []string{ask(proxy, "proxy", "p1")}, []string{"p1"}},
			{401, []string{ask(server, "pbx", "w1")}, []string{"p1", "w1"}},
		},
		"the same realm in both headers": {
			{407, []string{ask(proxy, "pbx", "p1")}, []string{"p1"}},
			{401, []string{ask(server, "pbx", "w1")}, []string{"p1", "w1"}},
		},
		"two branches of a fork at once": {
			{407, []string{ask(proxy, "a", "p1"), ask(proxy, "b", "p2"), ask(server, "c", "w1")}, []string{"p1", "p2", "w1"}},
		},
		"a stale nonce of the first": {
			{407, []string{ask(proxy, "proxy", "p1")}, []string{"p1"}},
			{401, []string{ask(server, "pbx", "w1")}, []string{"p1", "w1"}},
			{407, []string{ask(proxy, "proxy", "p2") + ", stale=true"}, []string{"p2", "w1"}},
		},
		"five on the way": {
			{407, []string{ask(proxy, "a", "1")}, []string{"1"}}, {407, []string{ask(proxy, "b", "2")}, []string{"1", "2"}},
			{407, []string{ask(proxy, "c", "3")}, []string{"1", "2", "3"}}, {407, []string{ask(proxy, "d", "4")}, []string{"1", "2", "3", "4"}},
			{401, []string{ask(server, "e", "5")}, []string{"1", "2", "3", "4", "5"}},
		},
		"the server refuses what the proxy took": {
			{407, []string{ask(proxy, "proxy", "p1")}, []string{"p1"}},
			{401, []string{ask(server, "pbx", "w1")}, []string{"p1", "w1"}},
			{401, []string{ask(server, "pbx", "w2")}, nil},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := place(t, withPassword)
			invite := p.invite
			for _, s := range steps {
				p.peer.reply(invite, s.status, "x", "", s.asks...)
				p.peer.request("ACK")
				if s.want == nil {
					if e := p.fails(); e.Cause != call.CauseAuthFailed || e.SIPCode != s.status {
						t.Errorf("%+v", e)
					}
					return
				}
				invite = p.peer.request("INVITE")
				given := strings.Join(append(invite.header["Proxy-Authorization"], invite.header["Authorization"]...), "\n")
				for _, nonce := range s.want {
					if !strings.Contains(given, `nonce="`+nonce+`"`) {
						t.Errorf("no credentials for %s in\n%s", nonce, given)
					}
				}
				if n := strings.Count(given, "response="); n != len(s.want) {
					t.Errorf("%d credentials, want %v:\n%s", n, s.want, given)
				}
			}
			p.peer.reply(invite, 200, "x", answerSDP())
			p.peer.request("ACK")
			p.leg()
		})
	}
}

// TestIntegrityOfTheBody checks that for qop auth-int the response covers a hash of the request's body.
func TestIntegrityOfTheBody(t *testing.T) {
	t.Parallel()
	hash := func(s string) string {
		sum := md5.Sum([]byte(s))
		return hex.EncodeToString(sum[:])
	}
	p := place(t, withPassword)
	p.peer.reply(p.invite, 401, "x", "", `WWW-Authenticate: Digest realm="r", nonce="n", qop="auth-int"`)
	p.peer.request("ACK")
	checks := func(m message, body string) {
		t.Helper()
		given := m.get("Authorization")
		_, cnonce, _ := strings.Cut(given, `cnonce="`)
		cnonce, _, _ = strings.Cut(cnonce, `"`)
		uri := strings.Fields(m.start)[1]
		a2 := hash(m.method() + ":" + uri + ":" + hash(body))
		want := hash(strings.Join([]string{hash("user:r:pass"), "n", "00000001", cnonce, "auth-int", a2}, ":"))
		if !strings.Contains(given, `response="`+want+`"`) {
			t.Errorf("%s: %s, want %s", m.method(), given, want)
		}
	}
	again := p.peer.request("INVITE")
	checks(again, again.body)
	p.peer.reply(again, 200, "x", answerSDP())
	p.peer.request("ACK")
	l := p.leg()
	go func() { _ = l.Hangup(t.Context()) }()
	p.peer.reply(p.peer.request("BYE"), 401, "", "", `WWW-Authenticate: Digest realm="r", nonce="n", qop="auth-int , x"`)
	bye := p.peer.request("BYE")
	checks(bye, "")
	p.peer.reply(bye, 200, "", "")
	ends(t, l)
}

// TestForbiddenIsTheCalleesAnswer checks that a 403 after accepted credentials counts as declined by the callee, and that no other server
// is tried.
func TestForbiddenIsTheCalleesAnswer(t *testing.T) {
	t.Parallel()
	for name, headers := range map[string][]string{
		"with its cause": {"Reason: Q.850;cause=21;text=\"CALL_REJECTED\""}, "without a word": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := twoServers(t)
			withPassword(s.agent)
			p := dial(t, s.agent, toBob)
			w := s.acceptOne()
			w.reply(w.request("INVITE"), 407, "x", "", `Proxy-Authenticate: Digest realm="r", nonce="n", qop="auth"`)
			w.request("ACK")
			w.reply(w.request("INVITE"), 403, "x", "", headers...)
			w.request("ACK")
			if e := p.fails(); e.Cause != call.CauseRejected || e.SIPCode != 403 || !e.ByPeer {
				t.Errorf("%+v", e)
			}
			got := s.attempts.all(t, 1)[0]
			if got.ended.Technical || got.ended.SIPCode != 403 || got.evidence == nil || !got.evidence.Alive {
				t.Errorf("%+v, %+v", got.ended, got.evidence)
			}
			o := failover.Outcome{Code: 403, Connected: true, Authenticated: true}
			if trigger, failed := failover.Classify(o); failed {
				t.Errorf("it is %s", trigger)
			}
		})
	}
}
