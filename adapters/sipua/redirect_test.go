package sipua_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/header"
)

// redirected is a call whose INVITE the trunk's server has received and will redirect.
type redirected struct {
	*placed

	address string // of the trunk's server
	records *attempts
}

// redirects places a call over a trunk with the given redirect policy, credentials and a header rule.
func redirects(t *testing.T, policy trunk.RedirectPolicy) *redirected {
	t.Helper()
	a, records := watched(t, nil)
	address, accept := listenWire(t, "127.0.0.1")
	a.callsTo(t, address)
	a.routes.route.Redirects = policy
	a.routes.route.Credentials = trunk.Credentials{Username: "user", Password: "pass"}
	a.routes.route.Headers = []header.Rule{{Custom: &header.Custom{Key: "X-Account", Value: "secret", Passthrough: true}}}
	p := dial(t, a, toBob)
	p.peer = accept()
	p.invite = p.peer.request("INVITE")
	if p.invite.get("X-Account") != "secret" {
		t.Fatalf("the first INVITE has the headers %v", p.invite.header)
	}
	return &redirected{p, address, records}
}

// to redirects the call from the trunk's server to the given contacts.
func (r *redirected) to(status int, contacts ...string) {
	r.t.Helper()
	moved(r.peer, r.invite, status, contacts...)
}

// moved answers an INVITE with a redirection to the given contacts, and waits for the ACK.
func moved(w *wire, invite message, status int, contacts ...string) {
	w.t.Helper()
	lines := make([]string, 0, len(contacts))
	for _, c := range contacts {
		lines = append(lines, "Contact: "+c)
	}
	w.reply(invite, status, "x", "", lines...)
	w.request("ACK")
}

// answered answers an INVITE with 200 and returns the leg of the call. At the end of the test the leg hangs up.
func (r *redirected) answered(w *wire, invite message) call.Leg {
	r.t.Helper()
	w.reply(invite, 200, "y", answerSDP())
	w.request("ACK")
	l := r.leg()
	r.t.Cleanup(func() {
		go func() { _ = l.Hangup(within(r.t)) }()
	})
	return l
}

func uriOf(m message) string { return strings.Fields(m.start)[1] }

// TestRedirectionIsRefused checks that a redirection that the policy or the protocol does not allow ends the call, and that the record
// contains its target.
func TestRedirectionIsRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		policy   trunk.RedirectPolicy
		status   int
		contacts []string
		why      string
	}{
		"by default":     {"", 302, []string{"<sip:+15550000009@127.0.0.1>"}, "sip:+15550000009@127.0.0.1: the trunk's redirect_policy is off"},
		"elsewhere":      {trunk.RedirectSameServer, 301, []string{"<sip:+15550000009@127.0.0.1:1;transport=tls>"}, "another server than the trunk's"},
		"without TLS":    {trunk.RedirectAny, 302, []string{"<sip:+15550000009@127.0.0.1;transport=udp>", "<sip:+15550000009@127.0.0.1;transport=tcp>"}, "TLS only"},
		"to no number":   {trunk.RedirectAny, 300, []string{"<sip:alice@127.0.0.1>"}, "no E.164 number"},
		"to nothing":     {trunk.RedirectAny, 302, nil, "the response names no Contact to call"},
		"to everywhere":  {trunk.RedirectAny, 302, []string{"*"}, "the response names no Contact to call"},
		"otherwise":      {trunk.RedirectAny, 380, []string{"<sip:+15550000009@127.0.0.1>"}, "redirections with status 380 are not followed, only those with 300, 301, 302 or 305"},
		"to many places": {"", 302, []string{"<sip:1@h>", "<sip:2@h>", "<sip:3@h>", "<sip:4@h>", "<sip:5@h>"}, "; and 2 more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := redirects(t, tt.policy)
			r.to(tt.status, tt.contacts...)
			want := fmt.Sprintf("the other side redirected the call (%d): ", tt.status)
			if e := r.fails(); e.Cause != call.CauseRedirected || e.SIPCode != tt.status || !e.ByPeer ||
				!strings.HasPrefix(e.Reason, want) || !strings.Contains(e.Reason, tt.why) {
				t.Errorf("%+v", e)
			}
			got := r.records.all(t, 1)[0].ended
			if got.Cause != "redirected" || got.SIPCode != tt.status || got.Technical {
				t.Errorf("%+v", got)
			}
			if len(tt.contacts) == 1 && tt.contacts[0] != "*" && !strings.Contains(got.Reason, strings.Trim(tt.contacts[0], "<>")) {
				t.Errorf("the record does not say where to: %q", got.Reason)
			}
			r.gone()
		})
	}
}

// TestRedirectionToTheSameServer checks that a redirection to a number at the trunk's own server is followed with the trunk's credentials
// and headers.
func TestRedirectionToTheSameServer(t *testing.T) {
	t.Parallel()
	r := redirects(t, trunk.RedirectSameServer)
	r.to(302, "<sip:+15550000009@"+r.address+";transport=tls>")
	again := r.peer.request("INVITE")
	if want := "sip:+15550000009@" + r.address + ";transport=tls"; uriOf(again) != want || again.get("To") != r.invite.get("To") ||
		again.get("X-Account") != "secret" || again.get("Call-Id") == r.invite.get("Call-Id") {
		t.Errorf("%s\n%v", again.start, again.header)
	}
	r.peer.reply(again, 407, "x", "", `Proxy-Authenticate: Digest realm="r", nonce="n", qop="auth"`)
	r.peer.request("ACK")
	again = r.peer.request("INVITE")
	if !strings.Contains(again.get("Proxy-Authorization"), `username="user"`) {
		t.Errorf("%v", again.header)
	}
	l := r.answered(r.peer, again)
	if got := l.Info().RedirectedTo; !strings.HasPrefix(got, "sip:+15550000009@"+r.address) {
		t.Errorf("redirected to %q", got)
	}
	go func() { _ = l.Hangup(within(t)) }()
	r.peer.reply(r.peer.request("BYE"), 200, "", "")
	first, second := r.records.all(t, 2)[0], r.records.all(t, 2)[1]
	if first.ended.SIPCode != 302 || second.ended.SIPCode != 200 || second.ended.To != "+15550000009" || second.ended.Attempt != 2 ||
		second.evidence == nil || !second.evidence.Alive {
		t.Errorf("%+v\n%+v", first.ended, second.ended)
	}
}

// TestRedirectionToAnotherServer checks that another server receives neither the credentials nor the headers of the trunk. The trunk's own
// server must not receive them either if the other server redirects the call back. Neither result must affect the health of the trunk's
// server.
func TestRedirectionToAnotherServer(t *testing.T) {
	t.Parallel()
	other, accept := listenWire(t, "127.0.0.1")
	r := redirects(t, trunk.RedirectAny)
	r.to(302, "<sips:+15550000009@"+other+">")
	w := accept()
	invite := w.request("INVITE")
	if invite.get("X-Account") != "" || uriOf(invite) != "sip:+15550000009@"+other+";transport=tls" {
		t.Errorf("%s\n%v", invite.start, invite.header)
	}
	moved(w, invite, 302, "<sip:+15550000010@"+r.address+">")
	back := r.peer.request("INVITE")
	if back.get("X-Account") != "" || !strings.Contains(uriOf(back), "+15550000010@") {
		t.Errorf("%s\n%v", back.start, back.header)
	}
	r.peer.reply(back, 401, "x", "", `WWW-Authenticate: Digest realm="r", nonce="n", qop="auth"`)
	r.peer.request("ACK")
	if e := r.fails(); e.Cause != call.CauseAuthFailed || e.SIPCode != 401 || !strings.Contains(e.Reason, "(redirected to sip:+15550000010@") {
		t.Errorf("%+v", e)
	}
	for _, got := range r.records.all(t, 3)[1:] {
		if got.evidence != nil || got.ended.Technical {
			t.Errorf("%+v, %+v", got.ended, got.evidence)
		}
	}
	r.gone()
}

// TestRedirectionToSeveralPlaces checks that the contacts at the trunk's server are tried in the order of their q values until one answers,
// and that a contact at another server is skipped.
func TestRedirectionToSeveralPlaces(t *testing.T) {
	t.Parallel()
	r := redirects(t, trunk.RedirectSameServer)
	r.to(300, "<sip:+15550000001@"+r.address+">;q=0.1, <sip:+15550000002@"+r.address+">;q=0.7", "<sip:+15550000003@elsewhere.test>",
		"<sip:+15550000004@"+r.address+">;q=0.5")
	for _, want := range []string{"+15550000002", "+15550000004", "+15550000001"} {
		invite := r.peer.request("INVITE")
		if !strings.Contains(uriOf(invite), want) {
			t.Fatalf("%s, want %s", invite.start, want)
		}
		if want == "+15550000001" {
			r.answered(r.peer, invite)
			break
		}
		r.peer.reply(invite, 486, "x", "")
		r.peer.request("ACK")
	}
	r.peer.silent(testT1)
	go r.giveUp()
}

// TestRedirectedCallIsDeclinedEverywhere checks that after a 603 from one target no other target is called.
func TestRedirectedCallIsDeclinedEverywhere(t *testing.T) {
	t.Parallel()
	r := redirects(t, trunk.RedirectSameServer)
	r.to(302, "<sip:+15550000001@"+r.address+">, <sip:+15550000002@"+r.address+">")
	r.peer.reply(r.peer.request("INVITE"), 603, "x", "")
	r.peer.request("ACK")
	if e := r.fails(); e.SIPCode != 603 {
		t.Errorf("%+v", e)
	}
	r.gone()
}

// TestUseProxy checks that after a 305 the original number is called through the named proxy.
func TestUseProxy(t *testing.T) {
	t.Parallel()
	other, accept := listenWire(t, "127.0.0.1")
	r := redirects(t, trunk.RedirectAny)
	r.to(305, "<sip:"+other+";lr>")
	w := accept()
	invite := w.request("INVITE")
	if !strings.Contains(uriOf(invite), bob.String()+"@") {
		t.Errorf("%s", invite.start)
	}
	w.reply(invite, 486, "x", "")
	w.request("ACK")
	if e := r.fails(); e.Cause != call.CauseBusy {
		t.Errorf("%+v", e)
	}
}

// TestRedirectionsEnd checks that loops, long chains of redirections, and redirections to the user agent itself are not followed.
func TestRedirectionsEnd(t *testing.T) {
	t.Parallel()
	t.Run("a loop", func(t *testing.T) {
		t.Parallel()
		r := redirects(t, trunk.RedirectSameServer)
		r.to(302, "<sip:+15550000009@"+r.address+">")
		moved(r.peer, r.peer.request("INVITE"), 302, "<"+uriOf(r.invite)+">", "<sip:15550000009@"+r.address+">")
		if e := r.fails(); e.Cause != call.CauseRedirected || strings.Count(e.Reason, "the call was already sent to this target") != 2 {
			t.Errorf("%+v", e)
		}
		r.gone()
	})
	t.Run("a chain", func(t *testing.T) {
		t.Parallel()
		r := redirects(t, trunk.RedirectSameServer)
		invite := r.invite
		for i := range trunk.MaxRedirects + 1 {
			moved(r.peer, invite, 302, fmt.Sprintf("<sip:+1555000010%d@%s>", i, r.address))
			if i < trunk.MaxRedirects {
				invite = r.peer.request("INVITE")
			}
		}
		if e := r.fails(); e.Cause != call.CauseRedirected || !strings.Contains(e.Reason, "at most 5 redirections") {
			t.Errorf("%+v", e)
		}
		r.peer.silent(testT1)
		r.gone()
	})
	t.Run("itself", func(t *testing.T) {
		t.Parallel()
		r := redirects(t, trunk.RedirectAny)
		r.to(302, "<sip:+15550000009@"+r.Addr().String()+">")
		if e := r.fails(); e.Cause != call.CauseUnreachable || !strings.Contains(e.Reason, "this server itself listens there") {
			t.Errorf("%+v", e)
		}
		if got := r.records.all(t, 2)[1]; got.ended.Technical || got.evidence != nil {
			t.Errorf("%+v", got.ended)
		}
		r.gone()
	})
	t.Run("given up", func(t *testing.T) {
		t.Parallel()
		r := redirects(t, trunk.RedirectSameServer)
		r.to(302, "<sip:+15550000001@"+r.address+">, <sip:+15550000002@"+r.address+">")
		invite := r.peer.request("INVITE")
		r.peer.reply(invite, 180, "x", "")
		<-r.rang
		r.giveUp()
		r.peer.reply(r.peer.request("CANCEL"), 200, "x", "")
		r.peer.reply(invite, 487, "x", "")
		r.peer.request("ACK")
		if e := r.fails(); e.Cause != call.CauseCancelled || e.SIPCode != 487 {
			t.Errorf("%+v", e)
		}
		r.gone()
	})
}
