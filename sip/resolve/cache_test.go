package resolve_test

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright/internal/testdns"
	"github.com/callwright/callwright/sip/uri"
)

func TestAnswersAreKeptForAWhile(t *testing.T) {
	t.Parallel()
	server := testdns.Start(t, "_sips._tcp.pbx.test. SRV 0 0 5061 a.pbx.test.", "a.pbx.test. A 192.0.2.1")
	server.Fail("broken.test")
	r, c := resolver(t, server.Resolver())
	ask := func(host string, port uint16, times int) {
		for range times {
			_, _ = r.Targets(t.Context(), uri.URI{Host: host, Port: port})
		}
	}
	check := func(when, name, kind string, want int) {
		t.Helper()
		if got := server.Asked(name, kind); got != want {
			t.Errorf("%s: %s asked for %d times, want %d", when, name, got, want)
		}
	}
	ask("pbx.test", 0, 3)
	ask("absent.test", 5061, 3)
	check("at once", "_sips._tcp.pbx.test", "SRV", 1)
	check("at once", "a.pbx.test", "A", 1)
	check("at once", "absent.test", "A", 1)

	c.pass(5 * time.Second)
	ask("pbx.test", 0, 1)
	ask("absent.test", 5061, 2)
	check("after 5 s", "a.pbx.test", "A", 1)
	check("after 5 s", "absent.test", "A", 2)

	c.pass(25 * time.Second)
	server.Set(t, "absent.test. A 192.0.2.2")
	ask("pbx.test", 0, 1)
	ask("absent.test", 5061, 1)
	check("after 30 s", "_sips._tcp.pbx.test", "SRV", 2)
	if targets, err := r.Targets(t.Context(), uri.URI{Host: "absent.test", Port: 1}); err != nil || len(targets) != 1 {
		t.Errorf("a name that has come into being: %v, %v", targets, err)
	}

	ask("broken.test", 5061, 1)
	before := server.Asked("broken.test", "A")
	ask("broken.test", 5061, 1)
	check("a failure", "broken.test", "A", 2*before)
}

// counting is a DNS without SRV records. It resolves every name, and counts the address queries.
type counting struct{ asked atomic.Int32 }

func (*counting) LookupSRV(context.Context, string, string, string) (string, []*net.SRV, error) {
	return "", nil, nil
}

func (c *counting) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	c.asked.Add(1)
	return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
}

// TestCacheIsBounded checks that a full cache deletes entries, and that it has room again after its entries have expired.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	const room, more = 10_000, 10
	dns := &counting{}
	r, c := resolver(t, dns)
	ask := func(n int) {
		if _, err := r.Addresses(t.Context(), strconv.Itoa(n)+".test"); err != nil {
			t.Fatal(err)
		}
	}
	for n := range room + more {
		ask(n)
	}
	asked := dns.asked.Load()
	for n := range room + more {
		ask(n)
	}
	if again := dns.asked.Load() - asked; again < more {
		t.Errorf("%d of %d names were forgotten, want %d at least", again, room+more, more)
	}
	c.pass(time.Minute)
	ask(0)
	asked = dns.asked.Load()
	for range 3 {
		ask(0)
	}
	if again := dns.asked.Load() - asked; again != 0 {
		t.Errorf("asked %d times again although there is room", again)
	}
}
