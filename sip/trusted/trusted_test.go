package trusted_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/trusted"
)

// names is a resolve.DNS without SRV records. While broken is set, address look-ups fail.
type names struct {
	hosts  map[string]string
	broken atomic.Bool
}

func (*names) LookupSRV(_ context.Context, _, _, name string) (string, []*net.SRV, error) {
	return "", nil, &net.DNSError{Name: name, IsNotFound: true}
}

func (n *names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if n.broken.Load() {
		return nil, errors.New("no answer")
	}
	if a, ok := n.hosts[host]; ok {
		return []netip.Addr{netip.MustParseAddr(a)}, nil
	}
	return nil, &net.DNSError{Name: host, IsNotFound: true}
}

// failing is a store whose Peers fails while broken is set.
type failing struct {
	sip.Store
	broken atomic.Bool
}

func (f *failing) Peers(ctx context.Context, after string, limit int) ([]sip.Trunk, error) {
	if f.broken.Load() {
		return nil, callwright.ErrUnavailable
	}
	return f.Store.Peers(ctx, after, limit)
}

// check checks for each address in want whether the set contains it.
func check(t *testing.T, s *trusted.Set, when string, want map[string]bool) {
	t.Helper()
	for text, wanted := range want {
		if got := s.Contains(netip.MustParseAddr(text)); got != wanted {
			t.Errorf("%s: %s is trusted: %t", when, text, got)
		}
	}
}

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// TestFollowsTrunks checks that the addresses named by trunks of any organization are trusted as long as the trunks exist, even while DNS
// or the store fails.
func TestFollowsTrunks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dns := &names{hosts: map[string]string{
			"pbx.example.": "192.0.2.20", "spare.example.": "192.0.2.21", "registrar.example.": "2001:db8::22",
		}}
		resolver, err := resolve.New(resolve.Config{DNS: dns})
		if err != nil {
			t.Fatal(err)
		}
		store := &failing{Store: sipstore.Trunks{Store: memstore.New()}}
		listed := sip.Trunk{ID: "a", Org: "one", Number: "+15550000001", Direction: sip.Inbound}
		listed.Options.AllowedIPs = prefixes("192.0.2.1/32", "198.51.100.0/24", "0.0.0.0/0", "203.0.0.0/8", "2001:db8:1::/48", "2000::/3")
		out := sip.Trunk{
			ID: "b", Org: "two", Number: "+15550000002", Direction: sip.Outbound, Endpoint: "sip:pbx.example:5061;transport=tls",
			Failover: &failover.Config{Servers: []failover.Server{{Host: "spare.example"}, {Host: "gone.example"}, {Host: "192.0.2.30"}}},
		}
		registered := sip.Trunk{ID: "c", Org: "two", Number: "+15550000002", Direction: sip.Inbound, Endpoint: "sip:registrar.example"}
		registered.Options.AuthMode = sip.AuthRegister
		for _, trunk := range []sip.Trunk{listed, out, registered} {
			if err := store.Insert(t.Context(), trunk); err != nil {
				t.Fatal(err)
			}
		}
		s, err := trusted.New(trusted.Config{Store: store, Resolver: resolver, Always: prefixes("10.0.0.0/8")})
		if err != nil {
			t.Fatal(err)
		}
		check(t, s, "before the first look", map[string]bool{"10.9.9.9": true, "192.0.2.1": false})

		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		synctest.Wait()
		all := map[string]bool{
			"10.9.9.9": true, "192.0.2.1": true, "::ffff:192.0.2.1": true, "192.0.2.2": false, "198.51.100.77": true,
			"203.0.113.1": false, "2001:db8:1::5": true, "2001:db8:2::5": false, "192.0.2.20": true, "192.0.2.21": true,
			"192.0.2.30": true, "2001:db8::22": true,
		}
		check(t, s, "at once", all)

		dns.broken.Store(true)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		check(t, s, "without DNS", all)
		dns.broken.Store(false)
		store.broken.Store(true)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		check(t, s, "without a database", all)

		store.broken.Store(false)
		listed.Version, out.Version = 1, 1
		if err := errors.Join(store.Delete(t.Context(), listed), store.Delete(t.Context(), out)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		check(t, s, "after trunks have gone", map[string]bool{
			"10.9.9.9": true, "192.0.2.1": false, "198.51.100.77": false, "192.0.2.20": false, "2001:db8::22": true,
		})
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestTrunksOfNow attaches a trunk while two nodes run. Its addresses must be trusted immediately on the node that attached it, and within
// five seconds of a look-up on the other node.
func TestTrunksOfNow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		resolver, err := resolve.New(resolve.Config{DNS: &names{}})
		if err != nil {
			t.Fatal(err)
		}
		store := &failing{Store: sipstore.Trunks{Store: memstore.New()}}
		here, err := trusted.New(trusted.Config{Store: store, Resolver: resolver})
		there, err2 := trusted.New(trusted.Config{Store: store, Resolver: resolver})
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if !here.Serves("+15550000009") {
			t.Error("no number is served before the first look")
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for _, s := range []*trusted.Set{here, there} {
			running.Go(func() { _ = s.Run(ctx) })
		}
		synctest.Wait()
		time.Sleep(2 * time.Second)
		trunk := sip.Trunk{ID: "a", Org: "one", Number: "+15550000001", Direction: sip.Inbound}
		trunk.Options.AllowedIPs = prefixes("192.0.2.1/32")
		if err := store.Insert(t.Context(), trunk); err != nil {
			t.Fatal(err)
		}
		here.Changed()
		synctest.Wait()
		check(t, here, "at once", map[string]bool{"192.0.2.1": true})
		if !here.Serves("+15550000001") || here.Serves("+15550000002") {
			t.Error("the numbers that are served are not those that are attached")
		}
		check(t, there, "on another node, when it is asked for", map[string]bool{"192.0.2.1": false})
		time.Sleep(5 * time.Second)
		synctest.Wait()
		check(t, there, "on another node, five seconds later", map[string]bool{"192.0.2.1": true})
		cancel()
		running.Wait()
	})
}

func TestNewChecks(t *testing.T) {
	t.Parallel()
	if _, err := trusted.New(trusted.Config{}); err == nil {
		t.Error("a set without a store")
	}
}
