package discovery_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/uri"
)

func addresses(texts ...string) []netip.Addr {
	var list []netip.Addr
	for _, text := range texts {
		list = append(list, netip.MustParseAddr(text))
	}
	return list
}

const one = "192.0.2.1"

func TestPlan(t *testing.T) {
	t.Parallel()
	usual := []string{
		one + ":5061/tls; " + one + ":5061/tcp", one + ":5060/udp", one + ":5060/tcp", one + ":5061/udp",
		one + ":5080/udp", one + ":5080/tcp",
	}
	for _, c := range []struct {
		name         string
		d            discovery.Discovery
		hosts        map[string][]netip.Addr
		allowPrivate bool
		want         []string
	}{
		{"the usual", discovery.Discovery{Addresses: addresses(one)}, nil, false, usual},
		{
			"a port and a transport", discovery.Discovery{Addresses: addresses(one), Port: 7000, Transport: uri.UDP}, nil, false,
			slices.Concat([]string{one + ":7000/udp"}, usual),
		},
		{
			"a port", discovery.Discovery{Addresses: addresses(one), Port: 7000}, nil, false,
			slices.Concat([]string{one + ":7000/tls; " + one + ":7000/tcp", one + ":7000/udp"}, usual),
		},
		{
			"a usual port over TLS", discovery.Discovery{Addresses: addresses(one), Port: 5060, Transport: uri.TLS}, nil, false,
			slices.Concat([]string{one + ":5060/tls; " + one + ":5060/tcp"}, usual[:2], usual[3:]),
		},
		{
			"a transport", discovery.Discovery{Addresses: addresses(one), Transport: uri.TCP}, nil, false,
			[]string{usual[2], usual[0], usual[1], usual[3], usual[4], usual[5]},
		},
		{
			"SRV records", discovery.Discovery{Addresses: addresses(one), SRV: []discovery.SRV{
				{Service: resolve.SIPSOverTCP, Target: "a", Port: 5062, Priority: 20},
				{Service: resolve.SIPSOverTCP, Target: "b", Port: 5061, Priority: 10},
				{Service: resolve.SIPOverUDP, Target: "b", Port: 5060, Priority: 0},
				{Service: resolve.SIPOverTCP, Target: "gone", Port: 5060},
			}},
			map[string][]netip.Addr{"a": addresses("192.0.2.2", "2001:db8::2"), "b": addresses(one)}, false,
			[]string{
				"192.0.2.2:5062/tls 20", "[2001:db8::2]:5062/tls 20", one + ":5061/tls 10; " + one + ":5061/tcp", one + ":5060/udp 0",
				usual[2], usual[3], usual[4], usual[5],
			},
		},
		{
			"private addresses", discovery.Discovery{Addresses: addresses("10.0.0.1", one), SRV: []discovery.SRV{
				{Service: resolve.SIPSOverTCP, Target: "inside", Port: 5061},
			}},
			map[string][]netip.Addr{"inside": addresses("127.0.0.1", "169.254.169.254", "fd00::1", "::1", "100.64.0.1", "fe80::1%eth0")}, false,
			slices.Concat([]string{
				"127.0.0.1:5061/tls 0 private", "169.254.169.254:5061/tls 0 private", "[fd00::1]:5061/tls 0 private",
				"[::1]:5061/tls 0 private", "100.64.0.1:5061/tls 0 private", "[fe80::1%eth0]:5061/tls 0 private", "10.0.0.1:5061/tls private",
			}, usual),
		},
		{
			"private addresses where they are allowed", discovery.Discovery{Addresses: addresses("127.0.0.1")}, nil, true,
			strings.Split(strings.ReplaceAll(strings.Join(usual, "\n"), one, "127.0.0.1"), "\n"),
		},
		{"nothing", discovery.Discovery{Port: 5060}, nil, false, nil},
	} {
		if got := discovery.Plan(c.d, c.hosts, c.allowPrivate); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// TestPlanIsBounded checks that at most 16 addresses are probed, even if DNS returns more.
func TestPlanIsBounded(t *testing.T) {
	t.Parallel()
	d := discovery.Discovery{Port: 7000}
	hosts := map[string][]netip.Addr{}
	for i := range 48 {
		name := fmt.Sprintf("h%d", i)
		d.SRV = append(d.SRV, discovery.SRV{Service: resolve.SIPSOverTCP, Target: name, Port: uint16(1000 + i)})
		hosts[name] = addresses(fmt.Sprintf("203.0.113.%d", i), one)
		d.Addresses = append(d.Addresses, netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}))
	}
	seen := map[string]bool{}
	for _, line := range discovery.Plan(d, hosts, false) {
		host, _, _ := strings.Cut(line, ":")
		seen[host] = true
	}
	if len(seen) != resolve.MaxTargets {
		t.Errorf("%d addresses are asked, want %d", len(seen), resolve.MaxTargets)
	}
}
