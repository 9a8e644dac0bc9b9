package sip_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/header"
	"github.com/callwright/callwright/sip/uri"
)

// redirecting returns a route with credentials, header rules and transfers.
func redirecting(policy sip.RedirectPolicy, servers ...string) sip.Route {
	r := sip.Route{
		Org: "a", TrunkID: "t", Number: one, Redirects: policy, Verify: sip.VerifyNone, Transfers: sip.TransferAny,
		Credentials: sip.Credentials{Username: "u", Password: "p"}, Headers: make([]header.Rule, 1),
	}
	for _, s := range servers {
		u, err := uri.Parse(s)
		if err != nil {
			panic(err)
		}
		r.Servers = append(r.Servers, u)
	}
	return r
}

func TestRedirect(t *testing.T) {
	t.Parallel()
	const own, number = "sip:pbx.example.com:5071;transport=tls", "+15550000007"
	peer := netip.MustParseAddrPort("203.0.113.5:5071")
	for contact, want := range map[string]struct {
		server  string // host and port of the expected server; empty if the Contact is refused
		why     string
		foreign bool
	}{
		"sip:+15550000007@pbx.example.com":                       {server: "pbx.example.com:5071"},
		"sip:15550000007@PBX.example.com:5071;transport=tls":     {server: "pbx.example.com:5071"},
		"sips:+15550000007@203.0.113.5":                          {server: "pbx.example.com:5071"},
		"sip:+15550000007;npdi=yes@203.0.113.5:5071":             {server: "pbx.example.com:5071"},
		"sip:+15550000007@pbx.example.com:5061":                  {server: "pbx.example.com:5061", foreign: true},
		"sip:+15550000007@other.example.com":                     {server: "other.example.com:5061", foreign: true},
		"sips:+15550000007@[2001:db8::1]:7000":                   {server: "2001:db8::1:7000", foreign: true},
		"sip:+15550000007@pbx.example.com;transport=udp":         {why: "udp"},
		"sip:+15550000007@other.example.com;transport=tcp":       {why: "tcp"},
		"sip:+15550000007@other.example.com;transport=ws":        {why: "transport must be"},
		"sip:+15550000007@other.example.com;maddr=127.0.0.1":     {why: "maddr"},
		"tel:+15550000007":                                       {why: "tel"},
		"sip:pbx.example.com":                                    {why: "no E.164 number"},
		"sip:alice@pbx.example.com":                              {why: "no E.164 number"},
		"sip:0900123@pbx.example.com":                            {why: "no E.164 number"},
		"sip:+1555%00@pbx.example.com":                           {why: "escape"},
		"http://pbx.example.com/":                                {why: "tls, tcp or udp"},
		"":                                                       {why: "must"},
		"sip:+15550000007@" + strings.Repeat("a", 4000) + ".com": {why: "must"},
	} {
		for _, policy := range []sip.RedirectPolicy{"", sip.RedirectOff, sip.RedirectSameServer, sip.RedirectAny} {
			route, server, to, err := redirecting(policy, own).Redirect(sip.Redirection{Contact: contact, Called: two, Peer: peer})
			allowed := want.server != "" && (policy == sip.RedirectAny || policy == sip.RedirectSameServer && !want.foreign)
			if !allowed {
				why := want.why
				switch {
				case policy == "" || policy == sip.RedirectOff:
					why = "redirect_policy is off"
				case want.foreign:
					why = "redirect_policy is same_server"
				}
				if !errors.Is(err, callwright.ErrForbidden) || !strings.Contains(callwright.MessageOf(err), why) {
					t.Errorf("%q, %s: %v", policy, contact, err)
				}
				continue
			}
			if err != nil || to != number || fmt.Sprint(server.Host, ":", server.EffectivePort()) != want.server || route.Foreign != want.foreign {
				t.Errorf("%q, %s: %s, %s, %+v, %v", policy, contact, server, to, route, err)
			}
		}
	}
	_, server, to, err := redirecting(sip.RedirectAny, own).Redirect(sip.Redirection{Contact: "sip:proxy.example.com;lr", Proxy: true, Called: two})
	if err != nil || to != two || server.Host != "proxy.example.com" {
		t.Errorf("a proxy: %s, %s, %v", server, to, err)
	}
	// If the trunk has several servers, the peer's address does not tell which of them redirected the call.
	two := redirecting(sip.RedirectSameServer, own, "sip:spare.example.com;transport=tls")
	if _, server, _, err := two.Redirect(sip.Redirection{Contact: "sip:+15550000007@203.0.113.5", Peer: peer}); err == nil {
		t.Errorf("an address of one of two servers: %s", server)
	}
	if _, server, _, err := two.Redirect(sip.Redirection{Contact: "sip:+15550000007@spare.example.com"}); err != nil || server.Host != "spare.example.com" {
		t.Errorf("the other server: %s, %v", server, err)
	}
}

// TestRedirectKeepsTheTrunksOwn checks for random redirections that servers other than the trunk's are called over TLS, with a verified
// certificate and without the trunk's settings. No later redirection may restore the credentials.
func TestRedirectKeepsTheTrunksOwn(t *testing.T) {
	t.Parallel()
	hosts := []string{"pbx.example.com", "spare.example.com", "evil.example.com", "203.0.113.5", "127.0.0.1", "[::1]", "pbx.example.com."}
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom([]sip.RedirectPolicy{"", "odd", sip.RedirectOff, sip.RedirectSameServer, sip.RedirectAny}).Draw(t, "policy")
		servers := []string{"sip:pbx.example.com;transport=tls", "sip:spare.example.com:5071;transport=tls"}[:rapid.IntRange(1, 2).Draw(t, "servers")]
		route := redirecting(policy, servers...)
		trunks := slices.Clone(route.Servers)
		left := false
		for range rapid.IntRange(1, 4).Draw(t, "redirections") {
			contact := rapid.SampledFrom([]string{"sip:", "sips:", "tel:", ""}).Draw(t, "scheme") +
				rapid.SampledFrom([]string{"", "+15550000007@", "15550000008@", "112@", "u:p@", "+1555@"}).Draw(t, "user") +
				rapid.SampledFrom(hosts).Draw(t, "host") + rapid.SampledFrom([]string{"", ":5061", ":5071", ":0"}).Draw(t, "port") +
				rapid.SampledFrom([]string{"", ";transport=tls", ";transport=udp", ";transport=tcp", ";maddr=127.0.0.1", "?Replaces=x"}).Draw(t, "params")
			next, server, to, err := route.Redirect(sip.Redirection{
				Contact: contact, Called: two, Proxy: rapid.Bool().Draw(t, "proxy"), Peer: netip.MustParseAddrPort("203.0.113.5:5061"),
			})
			if err != nil {
				continue
			}
			ours := slices.ContainsFunc(trunks, func(u uri.URI) bool {
				return u.Host == server.Host && u.EffectivePort() == server.EffectivePort()
			})
			if _, err := callwright.ParsePhoneNumber(to.String()); err != nil || server.Transport() != uri.TLS {
				t.Fatalf("%s leads to %s at %s", contact, to, server)
			}
			if policy != sip.RedirectAny && (policy != sip.RedirectSameServer || !ours) {
				t.Fatalf("%q: %s leads to %s", policy, contact, server)
			}
			left = left || !ours
			bare := next.Credentials == sip.Credentials{} && next.Headers == nil
			if (left || !ours) && (!bare || !next.Foreign || next.Verify != sip.VerifyFull || next.Transfers != sip.TransferOff) {
				t.Fatalf("%s: the route to %s is %+v", contact, server, next)
			}
			if next.Failover.Enabled || next.Org != "a" || next.TrunkID != "t" || next.Number != one {
				t.Fatalf("%s: %+v", contact, next)
			}
			route = next
		}
	})
}

func TestRedirectPolicyIsChecked(t *testing.T) {
	t.Parallel()
	h := open(t)
	in := outbound("sip:pbx.example.com")
	in.Redirects = new(sip.RedirectPolicy("some"))
	_, err := h.Attach(t.Context(), "a", sip.Attachment{Numbers: []string{one}, Directions: []sip.DirectionInput{in}})
	wantField(t, err, callwright.CodeBadRequest, "directions[0].options.redirect_policy")
	other := inbound()
	other.Redirects = new(sip.RedirectAny)
	_, err = h.Attach(t.Context(), "a", sip.Attachment{Numbers: []string{one}, Directions: []sip.DirectionInput{other}})
	wantField(t, err, callwright.CodeBadRequest, "directions[0].options.redirect_policy")
	for _, policy := range []sip.RedirectPolicy{"", sip.RedirectSameServer} {
		in.Redirects = nil
		if policy != "" {
			in.Redirects = &policy
		}
		h.attach("a", []string{one}, in)
		route, err := h.Outbound(t.Context(), "a", one)
		if want := max(policy, sip.RedirectOff); err != nil || route.Redirects != want {
			t.Errorf("%q: %q, %v", policy, route.Redirects, err)
		}
	}
}
