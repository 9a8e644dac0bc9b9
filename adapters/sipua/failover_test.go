package sipua_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/internal/testdns"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/header"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/resolve"
)

// hurry is the maximum time that a server may stay silent in these tests. unhurried is the time after which no further server is tried. It
// is so long that further servers are always tried.
const (
	hurry     = 10 * testT1
	unhurried = patience
)

var toBob = call.DialRequest{CallID: "parent", Org: org, From: alice, To: bob}

// two holds a user agent and two scripted servers of its trunk, with failover.
type two struct {
	*agent
	attempts             *attempts
	first, second        string
	acceptOne, acceptTwo func() *wire
}

func twoServers(t testing.TB) *two {
	t.Helper()
	a, j := watched(t, nil)
	s := &two{agent: a, attempts: j}
	s.first, s.acceptOne = listenWire(t, "127.0.0.1")
	s.second, s.acceptTwo = listenWire(t, "127.0.0.1")
	a.callsTo(t, s.first, s.second)
	a.routes.route.Failover = failover.Config{Enabled: true}
	return s
}

// notes returns the details of a ladder's steps with the given note.
func notes(steps []ladder.Event, note string) []string {
	var details []string
	for _, s := range steps {
		if s.Note == note {
			details = append(details, s.Detail)
		}
	}
	return details
}

func TestSilentServerIsLeft(t *testing.T) {
	t.Parallel()
	s := twoServers(t)
	s.Hurry(hurry, unhurried)
	p := dial(t, s.agent, toBob)
	silent := s.acceptOne()
	first := silent.request("INVITE")
	w := s.acceptTwo()
	second := w.request("INVITE")
	if first.get("Call-Id") == second.get("Call-Id") || first.get("From") == second.get("From") {
		t.Error("the second attempt looks like the first")
	}
	w.reply(second, 200, "x", answerSDP())
	w.request("ACK")
	l := p.leg()
	// The first server answers late, with two branches of a fork. Both are acknowledged and ended, because the call is already established.
	silent.reply(first, 200, "late", answerSDP())
	silent.request("ACK")
	bye := silent.request("BYE")
	silent.reply(first, 200, "fork", answerSDP())
	if ack := silent.request("ACK"); ack.toTag() != "fork" {
		t.Errorf("%v", ack.header)
	}
	silent.reply(silent.request("BYE"), 200, "", "")
	silent.reply(bye, 200, "", "")
	select {
	case <-l.Done():
		t.Error("the call ended with the one that came too late")
	default:
	}
	go func() { _ = l.Hangup(t.Context()) }()
	w.reply(w.request("BYE"), 200, "", "")
	ends(t, l)
	got := s.attempts.all(t, 2)
	want := strings.Join([]string{
		"- resolved", "- connected", "> INVITE 1 [PCMU, PCMA; sendrecv; AES_CM_128_HMAC_SHA1_80]", "- given up",
		"< 200 Test INVITE 1 " + secureBody, "> ACK 1", "> BYE 2", "< 200 Test INVITE 1 " + secureBody, "> ACK 1", "> BYE 2",
		"< 200 Test BYE 2",
	}, "\n")
	if text := shown(got[0].steps); !strings.HasPrefix(text, want) || !strings.HasSuffix(text, "- ended\n") {
		t.Errorf("the ladder of the first is\n%s and not\n%s", text, want)
	}
	if r := got[0].ended; got[0].told != "begin end" || r.Server != s.first || r.Cause != "unreachable" || r.ParentID != "parent" {
		t.Errorf("%s: %+v", got[0].told, r)
	}
	if r := got[1].ended; got[1].told != "begin answered end" || r.Server != s.second || r.Attempt != 2 || r.ParentID != "parent" ||
		got[1].steps[0].Attempt != 2 {
		t.Errorf("%s: %+v", got[1].told, r)
	}
}

func TestServerThatNeverSpeaks(t *testing.T) {
	t.Parallel()
	s := twoServers(t)
	s.Hurry(hurry, unhurried)
	p := dial(t, s.agent, toBob)
	silent := s.acceptOne()
	first := silent.request("INVITE")
	w := s.acceptTwo()
	w.reply(w.request("INVITE"), 486, "x", "")
	w.request("ACK")
	if e := p.fails(); e.Cause != call.CauseBusy || !strings.Contains(e.Reason, "2 servers") {
		t.Errorf("%+v", e)
	}
	silent.reply(first, 100, "", "") // a CANCEL requires a provisional response
	silent.reply(silent.request("CANCEL"), 200, "x", "")
	silent.reply(first, 487, "x", "")
	silent.request("ACK")
	got := s.attempts.all(t, 2)
	if r := got[0].ended; r.SIPCode != 487 || r.Cause != "unreachable" || !r.Technical {
		t.Errorf("%+v", r)
	}
	if r, e := got[1].ended, got[1].evidence; r.SIPCode != 486 || r.Status != "486 Test" || r.Technical || e == nil || !e.Alive || e.Reason != "486 Test" {
		t.Errorf("%+v, %+v", r, e)
	}

	alone := twoServers(t)
	alone.Hurry(hurry, unhurried)
	alone.routes.route.Failover = failover.Config{}
	p = dial(t, alone.agent, toBob)
	alone.acceptOne().request("INVITE")
	if e := p.fails(); e.Cause != call.CauseUnreachable || e.SIPCode != 0 {
		t.Errorf("without failover: %+v", e)
	}
	w1 := alone.attempts.all(t, 1)[0] // ends after 64*T1
	if e := w1.evidence; e == nil || e.Alive || !strings.Contains(e.Reason, "did not answer within") || w1.ended.SIPCode != 0 || !w1.ended.Technical {
		t.Errorf("%+v, %+v", e, w1.ended)
	}
}

// TestSlowServersStay checks that a server that has sent a provisional response is not abandoned, and that a ringing call does not move to
// another server.
func TestSlowServersStay(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"trying": 100, "ringing": 180} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := twoServers(t)
			s.Hurry(hurry, unhurried)
			p := dial(t, s.agent, toBob)
			w := s.acceptOne()
			invite := w.request("INVITE")
			w.reply(invite, status, "x", "")
			w.silent(2 * hurry)
			w.reply(invite, 503, "x", "")
			w.request("ACK")
			if status == 180 {
				if e := p.fails(); e.SIPCode != 503 || strings.Contains(e.Reason, "servers") {
					t.Errorf("%+v", e)
				}
				if e := s.attempts.all(t, 1)[0].evidence; e == nil || !e.Alive {
					t.Errorf("%+v", e)
				}
				return
			}
			w = s.acceptTwo()
			w.reply(w.request("INVITE"), 603, "x", "")
			w.request("ACK")
			if e := p.fails(); e.SIPCode != 603 {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestWhichFailuresMoveACall(t *testing.T) {
	t.Parallel()
	password := trunk.Credentials{Username: "user", Password: "pass"}
	challenge := `WWW-Authenticate: Digest realm="r", nonce="n", qop="auth"`
	for _, tt := range []struct {
		name        string
		config      failover.Config
		credentials trunk.Credentials
		status      int
		moves       bool
		alive       bool
		technical   bool
	}{
		{"out of order", failover.Config{Enabled: true}, trunk.Credentials{}, 503, true, false, true},
		{"a proxy's peer is silent", failover.Config{Enabled: true}, trunk.Credentials{}, 408, true, false, true},
		{"not a trigger", failover.Config{Enabled: true, Triggers: []failover.Trigger{failover.Timeout}}, trunk.Credentials{}, 503, false, false, true},
		{"disabled", failover.Config{}, trunk.Credentials{}, 503, false, false, true},
		{"busy", failover.Config{Enabled: true}, trunk.Credentials{}, 486, false, true, false},
		{"declined", failover.Config{Enabled: true}, trunk.Credentials{}, 603, false, true, false},
		{"a wrong password", failover.Config{Enabled: true}, password, 401, true, true, true},
		{"a wrong password is no trigger", failover.Config{Enabled: true, Triggers: []failover.Trigger{failover.Unreachable}}, password, 401, false, true, true},
		{"forbidden without a password", failover.Config{Enabled: true}, trunk.Credentials{}, 403, false, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := twoServers(t)
			s.routes.route.Failover, s.routes.route.Credentials = tt.config, tt.credentials
			p := dial(t, s.agent, toBob)
			w := s.acceptOne()
			for range 1 + len(tt.credentials.Username)/4 { // two INVITEs if the trunk has credentials
				w.reply(w.request("INVITE"), tt.status, "x", "", challenge, "Retry-After: 120 (a while);duration=5")
				w.request("ACK")
			}
			want, attempts := tt.status, 1
			if tt.moves {
				w = s.acceptTwo()
				w.reply(w.request("INVITE"), 480, "x", "")
				w.request("ACK")
				want, attempts = 480, 2
			}
			if e := p.fails(); e.SIPCode != want {
				t.Errorf("%+v", e)
			}
			got := s.attempts.all(t, attempts)[0]
			e := got.evidence
			if got.ended.SIPCode != tt.status || got.ended.Technical != tt.technical || e == nil || e.Alive != tt.alive {
				t.Errorf("%+v, %+v", got.ended, e)
			}
			if !tt.alive && e.RetryAfter != 2*time.Minute {
				t.Errorf("Retry-After: %v", e.RetryAfter)
			}
		})
	}
}

func TestNoServerIsBegunTooLate(t *testing.T) {
	t.Parallel()
	s := twoServers(t)
	s.Hurry(hurry, hurry/2)
	p := dial(t, s.agent, toBob)
	s.acceptOne().request("INVITE")
	if e := p.fails(); e.Cause != call.CauseUnreachable || strings.Contains(e.Reason, "servers") {
		t.Errorf("%+v", e)
	}
	s.attempts.all(t, 1)
}

func TestGivenUpSaysNothingOfTheServer(t *testing.T) {
	t.Parallel()
	s := twoServers(t)
	p := dial(t, s.agent, toBob)
	s.acceptOne().request("INVITE")
	p.giveUp()
	if e := p.fails(); e.Cause != call.CauseCancelled {
		t.Errorf("%+v", e)
	}
	if got := s.attempts.all(t, 1)[0]; got.evidence != nil || got.ended.Technical || got.ended.Cause != "cancelled" {
		t.Errorf("%+v, %+v", got.evidence, got.ended)
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	a, j := watched(t, nil)
	a.callsTo(t, "127.0.0.1:1")
	p := dial(t, a, toBob)
	p.fails()
	got := j.all(t, 1)[0]
	if r := got.ended; got.told != "begin end" || r.Source != "" || r.SIPCode != 0 || r.Status != "" || !r.Technical || r.Server != "127.0.0.1:1" {
		t.Errorf("%s: %+v", got.told, r)
	}
	if e := got.evidence; e == nil || e.Alive || !strings.Contains(e.Reason, "refused") {
		t.Errorf("%+v", e)
	}
	if text := shown(got.steps); text != "- resolved\n- not connected\n- ended\n" {
		t.Error(text)
	}

	a.media.full = true
	address, _ := listenWire(t, "127.0.0.1")
	a.callsTo(t, address)
	dial(t, a, toBob).fails()
	if got := j.all(t, 2); got[0].evidence != nil && got[1].evidence != nil {
		t.Errorf("no port of ours is free: %+v, %+v", got[0].evidence, got[1].evidence)
	}
}

// named returns an agent that uses a DNS server with the given zone, and its recorded attempts.
func named(t testing.TB, zone ...string) (*agent, *attempts) {
	t.Helper()
	r, err := resolve.New(resolve.Config{DNS: testdns.Start(t, zone...).Resolver()})
	if err != nil {
		t.Fatal(err)
	}
	return watched(t, func(c *sipua.Config) { c.Resolver = r })
}

func portOf(t testing.TB, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func TestServersByName(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		certificate string
		ok          bool
	}{
		"the certificate names the trunk's host":        {"pbx.test", true},
		"the certificate names the SRV record's target": {"b.other.test", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, accept := listenWire(t, tt.certificate)
			a, j := named(t,
				"_sips._tcp.pbx.test. SRV 10 0 1 a.other.test.", // no server listens on this port
				"_sips._tcp.pbx.test. SRV 20 0 "+portOf(t, address)+" b.other.test.",
				"a.other.test. A 127.0.0.1", "b.other.test. A 127.0.0.1", "pbx.test. A 127.0.0.2")
			a.callsTo(t, "pbx.test")
			p := dial(t, a, toBob)
			if tt.ok {
				w := accept()
				invite := w.request("INVITE")
				if !strings.HasPrefix(invite.start, "INVITE sip:"+bob.String()+"@pbx.test;transport=tls ") {
					t.Error(invite.start)
				}
				w.reply(invite, 486, "x", "")
				w.request("ACK")
			}
			e := p.fails()
			got := j.all(t, 1)[0]
			if want := []string{"pbx.test is at 127.0.0.1:1, " + address + " by _sips._tcp"}; !slices.Equal(notes(got.steps, ladder.NoteResolved), want) {
				t.Errorf("%q", notes(got.steps, ladder.NoteResolved))
			}
			failed := notes(got.steps, ladder.NoteUnconnected)
			connected := notes(got.steps, ladder.NoteConnected)
			if tt.ok {
				if e.Cause != call.CauseBusy || len(failed) != 1 || len(connected) != 1 || !strings.HasSuffix(connected[0], "the name pbx.test") || got.ended.Server != "pbx.test" {
					t.Errorf("%+v, %q, %q, %+v", e, failed, connected, got.ended)
				}
				return
			}
			if e.Cause != call.CauseUnreachable || len(failed) != 2 || len(connected) != 0 || !strings.Contains(failed[1], "does not name the host") {
				t.Errorf("%+v, %q", e, failed)
			}
		})
	}
}

// TestBackToAServerByName checks that a lost connection is reestablished to the address of the SRV record, not to the A record of the
// Contact's host.
func TestBackToAServerByName(t *testing.T) {
	t.Parallel()
	address, accept := listenWire(t, "pbx.test")
	a, _ := named(t, "_sips._tcp.pbx.test. SRV 10 0 "+portOf(t, address)+" a.other.test.",
		"a.other.test. A 127.0.0.1", "pbx.test. A 127.0.0.2")
	a.callsTo(t, "pbx.test")
	p := dial(t, a, toBob)
	w := accept()
	w.reply(w.request("INVITE"), 200, "x", answerSDP(), "Contact: <sip:peer@pbx.test;transport=tls>")
	w.request("ACK")
	l := p.leg()
	_ = w.conn.Close()
	<-w.closed
	select {
	case <-l.Done():
		t.Fatal("the call ended with its connection")
	case <-time.After(5 * testT1): // until the user agent notices the lost connection
	}
	go func() { _ = l.Hangup(t.Context()) }()
	w = accept()
	w.reply(w.request("BYE"), 200, "", "")
	ends(t, l)
}

func TestNameWithoutAnAddress(t *testing.T) {
	t.Parallel()
	a, j := named(t, "else.test. A 127.0.0.1")
	a.callsTo(t, "pbx.test")
	if e := dial(t, a, toBob).fails(); e.Cause != call.CauseUnreachable || !strings.Contains(e.Reason, "pbx.test") {
		t.Errorf("%+v", e)
	}
	got := j.all(t, 1)[0]
	if text := shown(got.steps); text != "- not resolved\n- ended\n" || got.evidence == nil || got.evidence.Alive {
		t.Errorf("%s%+v", text, got.evidence)
	}
}

func TestCertificateInTheLadder(t *testing.T) {
	t.Parallel()
	for verify, want := range map[trunk.TLSVerification]string{
		trunk.VerifyFull: "certificate verified (full)", trunk.VerifyChain: "certificate verified (chain)",
		trunk.VerifyNone: "certificate not verified (none)",
	} {
		t.Run(string(verify), func(t *testing.T) {
			t.Parallel()
			a, j := watched(t, nil)
			address, accept := listenWire(t, "127.0.0.1")
			a.callsTo(t, address)
			a.routes.route.Verify = verify
			p := dial(t, a, toBob)
			w := accept()
			w.reply(w.request("INVITE"), 486, "x", "")
			p.fails()
			if got := notes(j.all(t, 1)[0].steps, ladder.NoteConnected); len(got) != 1 || !strings.Contains(got[0], want) {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestHeaderRules(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	address, accept := listenWire(t, "127.0.0.1")
	a.callsTo(t, address)
	a.routes.route.Credentials = trunk.Credentials{Username: "user", Password: "pass"}
	a.routes.route.Headers = []header.Rule{
		{Custom: &header.Custom{Key: "ticket", Value: "X-Ticket"}},
		{Custom: &header.Custom{Key: "X-Constant", Value: "always", Passthrough: true}},
		{Custom: &header.Custom{Key: "bad", Value: "X-Bad"}},
	}
	d := toBob
	d.Variables = map[string]string{"ticket": "T-1", "bad": "a\r\nX-Injected: yes"}
	p := dial(t, a, d)
	w := accept()
	for range 2 { // without and with credentials
		invite := w.request("INVITE")
		if invite.get("X-Ticket") != "T-1" || invite.get("X-Constant") != "always" || invite.get("X-Bad") != "" || invite.get("X-Injected") != "" {
			t.Errorf("%v", invite.header)
		}
		w.reply(invite, 401, "x", "", `WWW-Authenticate: Digest realm="r", nonce="n", qop="auth"`)
		w.request("ACK")
	}
	p.fails()

	b := newAgent(t, nil)
	b.routes.route.Headers = []header.Rule{{Custom: &header.Custom{Key: "X-Ticket", Value: "ticket"}}}
	offers := make(chan call.CallerInfo, 1)
	ctx := within(t)
	go func() {
		p, err := b.Accept(ctx)
		if err != nil {
			t.Errorf("accept: %v", err)
			return
		}
		offers <- p.Caller()
		_ = p.Reject(call.CauseBusy)
	}()
	c := newCaller(t, b)
	c.ask("INVITE", offerSDP("RTP/SAVP"), "X-Ticket: T-2")
	if got := (<-offers).Variables; got["ticket"] != "T-2" {
		t.Errorf("%v", got)
	}
	c.response(180)
	c.response(486)
}

// TestNameThatLeadsInside checks that, without AllowPrivate, the user agent does not connect to a name that resolves to private addresses,
// and that the ladder does not reveal them.
func TestNameThatLeadsInside(t *testing.T) {
	t.Parallel()
	r, err := resolve.New(resolve.Config{DNS: insideDNS{}})
	if err != nil {
		t.Fatal(err)
	}
	a, j := watched(t, func(c *sipua.Config) { c.Resolver, c.AllowPrivate = r, false })
	a.callsTo(t, "pbx.test:5061")
	if e := dial(t, a, toBob).fails(); e.Cause != call.CauseUnreachable || !strings.Contains(e.Reason, "public") {
		t.Errorf("%+v", e)
	}
	// The ladder must not reveal the private address.
	if told := fmt.Sprint(j.all(t, 1)[0].steps); !strings.Contains(told, "an address that is not public") || strings.Contains(told, "10.0.0.1") {
		t.Errorf("the ladder shows %s", told)
	}
}

type insideDNS struct{}

func (insideDNS) LookupSRV(context.Context, string, string, string) (string, []*net.SRV, error) {
	return "", nil, &net.DNSError{IsNotFound: true}
}

func (insideDNS) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("10.0.0.1")}, nil
}
