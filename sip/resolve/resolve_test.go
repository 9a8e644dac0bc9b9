package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/internal/testdns"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/uri"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a callwright.Clock that only a test advances.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// resolver returns a Resolver for which every random number is 0, and its clock.
func resolver(t *testing.T, dns resolve.DNS) (*resolve.Resolver, *clock) {
	t.Helper()
	c := &clock{now: time.Unix(1_800_000_000, 0)}
	r, err := resolve.New(resolve.Config{DNS: dns, Runtime: callwright.Runtime{Clock: c}, Random: func(int) int { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	return r, c
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// texts formats targets as "address host service", or "address host" without an SRV record, separated by commas.
func texts(targets []resolve.Target) string {
	var all []string
	for _, target := range targets {
		all = append(all, strings.TrimSpace(target.Address.String()+" "+target.Host+" "+target.Service))
	}
	return strings.Join(all, ", ")
}

func TestTargets(t *testing.T) {
	t.Parallel()
	server := testdns.Start(t,
		"plain.test. A 192.0.2.1", "plain.test. A 192.0.2.1", "plain.test. AAAA ::ffff:192.0.2.1",
		"_sips._tcp.srv.test. SRV 20 0 5063 c.srv.test.", "_sips._tcp.srv.test. SRV 10 0 5061 A.srv.test.",
		"_sips._tcp.srv.test. SRV 15 0 5061 gone.srv.test.", "_sips._tcp.srv.test. SRV 17 0 5061 alias.srv.test.",
		"a.srv.test. A 192.0.2.10", "c.srv.test. A 192.0.2.30", "alias.srv.test. CNAME a.srv.test.", "srv.test. A 192.0.2.99",
	)
	r, _ := resolver(t, server.Resolver())
	for _, c := range []struct {
		name string
		uri  uri.URI
		want string
	}{
		{"a literal", uri.URI{Host: "192.0.2.5"}, "192.0.2.5:5061 192.0.2.5"},
		{"a literal with a port", uri.URI{Host: "2001:db8::1", Port: 5080}, "[2001:db8::1]:5080 2001:db8::1"},
		{"no SRV record", uri.URI{Host: "plain.test"}, "192.0.2.1:5061 plain.test"},
		{"a port", uri.URI{Host: "srv.test", Port: 5070}, "192.0.2.99:5070 srv.test"},
		{
			"SRV records, with one that leads nowhere and one twice", uri.URI{Host: "srv.test"},
			"192.0.2.10:5061 a.srv.test _sips._tcp, 192.0.2.30:5063 c.srv.test _sips._tcp",
		},
	} {
		targets, err := r.Targets(t.Context(), c.uri)
		if err != nil || texts(targets) != c.want {
			t.Errorf("%s: %s, %v\nwant %s", c.name, texts(targets), err, c.want)
		}
	}
	if n := server.Asked("_sips._tcp.plain.test", "SRV"); n != 1 {
		t.Errorf("asked for SRV records %d times, want once", n)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	server := testdns.Start(t,
		"_sips._tcp.none.test. SRV 0 0 0 .", "none.test. A 192.0.2.1",
		"_sips._tcp.port.test. SRV 0 0 0 none.test.",
		"_sips._tcp.literal.test. SRV 0 0 5061 192.0.2.7.", // RFC 2782 requires a name as the target
		"_sips._tcp.gone.test. SRV 0 0 5061 nowhere.test.",
		"a.loop.test. CNAME b.loop.test.", "b.loop.test. CNAME a.loop.test.",
		"_sips._tcp.loop.test. CNAME _sips._tcp.loop.test.",
		"silent.test. A 192.0.2.1", "mute.test. A 192.0.2.1", "broken.test. A 192.0.2.1",
	)
	server.Silence("silent.test")
	server.Silence("_sips._tcp.mute.test")
	server.Fail("broken.test")
	r, _ := resolver(t, server.Resolver())
	for _, c := range []struct {
		host string
		port uint16
		want string
	}{
		{"none.test", 0, "the host does not accept SIP over TLS, according to DNS"},
		{"port.test", 0, "the host does not accept SIP over TLS, according to DNS"},
		{"literal.test", 0, "the DNS query for literal.test failed"},
		{"gone.test", 0, "nowhere.test has no address in DNS"},
		{"absent.test", 0, "absent.test has no address in DNS"},
		{"absent.test", 5061, "absent.test has no address in DNS"},
		{"a.loop.test", 5061, "a.loop.test has no address in DNS"},
		{"a.loop.test", 0, "a.loop.test has no address in DNS"},
		{"loop.test", 0, "loop.test has no address in DNS"},
		{"silent.test", 0, "the DNS query for silent.test timed out"},
		{"mute.test", 0, "the DNS query for mute.test timed out"},
		{"broken.test", 0, "the DNS query for broken.test failed"},
	} {
		limit := 10 * time.Second
		if strings.HasSuffix(c.want, "in time") {
			limit = 300 * time.Millisecond
		}
		targets, err := r.Targets(within(t, limit), uri.URI{Host: c.host, Port: c.port})
		if len(targets) != 0 || !errors.Is(err, callwright.ErrUnavailable) || callwright.MessageOf(err) != c.want {
			t.Errorf("%s: %v, %v\nwant %s", c.host, targets, err, c.want)
		}
	}
	given, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Targets(given, uri.URI{Host: "plain.test"}); callwright.MessageOf(err) != "the DNS query for plain.test was canceled" {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := r.Targets(t.Context(), uri.URI{Scheme: uri.Tel, Opaque: "+15550100001"}); !errors.Is(err, callwright.ErrBadRequest) {
		t.Errorf("a tel URI: %v", err)
	}
}

func TestHundredsOfRecords(t *testing.T) {
	t.Parallel()
	var zone []string
	for i := range 300 {
		zone = append(zone, fmt.Sprintf("_sips._tcp.many.test. SRV %d %d 5061 h%d.many.test.", i%3, i, i),
			fmt.Sprintf("h%d.many.test. A 198.51.%d.%d", i, i/200, i%200), fmt.Sprintf("many.test. A 203.0.%d.%d", i/200, i%200))
	}
	server := testdns.Start(t, zone...)
	r, _ := resolver(t, server.Resolver())
	for _, port := range []uint16{0, 5061} {
		targets, err := r.Targets(t.Context(), uri.URI{Host: "many.test", Port: port})
		if err != nil || len(targets) != resolve.MaxTargets {
			t.Errorf("port %d: %d targets, %v", port, len(targets), err)
		}
		seen := map[netip.AddrPort]bool{}
		for _, target := range targets {
			if seen[target.Address] {
				t.Errorf("%s comes twice", target.Address)
			}
			seen[target.Address] = true
		}
	}
	records, err := r.Records(t.Context(), "many.test")
	if err != nil || len(records.SRV) != resolve.MaxTargets || len(records.Addresses) != resolve.MaxTargets {
		t.Errorf("%d SRV records, %d addresses, %v", len(records.SRV), len(records.Addresses), err)
	}
}

func TestRecords(t *testing.T) {
	t.Parallel()
	server := testdns.Start(t,
		"pbx.test. A 192.0.2.1", "_sip._udp.pbx.test. SRV 1 2 5060 u.pbx.test.", "_sip._tcp.pbx.test. SRV 2 0 5060 t.pbx.test.",
		"_sips._tcp.pbx.test. SRV 9 0 5061 late.pbx.test.", "_sips._tcp.pbx.test. SRV 3 0 5061 S.pbx.test.",
		"_sip._udp.bare.test. SRV 0 0 5060 elsewhere.test.", "_sips._tcp.plain.test. SRV 0 0 0 .", "plain.test. A 192.0.2.2",
		"half.test. A 192.0.2.3",
	)
	server.Fail("_sip._udp.half.test")
	r, _ := resolver(t, server.Resolver())
	for _, c := range []struct{ host, want string }{
		{"pbx.test", "{[{_sips._tcp s.pbx.test 5061 3 0} {_sips._tcp late.pbx.test 5061 9 0} {_sip._tcp t.pbx.test 5060 2 0} {_sip._udp u.pbx.test 5060 1 2}] [192.0.2.1]}"},
		{"bare.test", "{[{_sip._udp elsewhere.test 5060 0 0}] []}"},
		{"plain.test", "{[] [192.0.2.2]}"},
		{"half.test", "{[] [192.0.2.3]}"},
		{"192.0.2.4", "{[] [192.0.2.4]}"},
		{"::ffff:192.0.2.4", "{[] [192.0.2.4]}"},
	} {
		records, err := r.Records(t.Context(), c.host)
		if got := fmt.Sprint(records); err != nil || got != c.want {
			t.Errorf("%s: %s, %v\nwant %s", c.host, got, err, c.want)
		}
	}
	if _, err := r.Records(t.Context(), "absent.test"); callwright.MessageOf(err) != "absent.test has no address in DNS" {
		t.Errorf("nothing at all: %v", err)
	}
}

func TestWantsItsPorts(t *testing.T) {
	t.Parallel()
	if _, err := resolve.New(resolve.Config{}); err == nil || err.Error() != "resolve: Config.DNS is required" {
		t.Errorf("got %v", err)
	}
	if _, err := resolve.New(resolve.Config{DNS: testdns.Start(t).Resolver()}); err != nil {
		t.Errorf("with what is required: %v", err)
	}
}
