package self_test

import (
	"fmt"
	"net"
	"net/netip"
	"testing"

	"github.com/callwright/callwright/sip/self"
)

// machine returns the addresses of a fake machine.
func machine() ([]net.Addr, error) {
	return []net.Addr{
		&net.IPNet{IP: net.IPv4(127, 0, 0, 1), Mask: net.CIDRMask(8, 32)},
		&net.IPNet{IP: net.IPv4(192, 0, 2, 1), Mask: net.CIDRMask(24, 32)},
		&net.IPNet{IP: net.ParseIP("2001:db8::1"), Mask: net.CIDRMask(64, 128)},
	}, nil
}

func TestAt(t *testing.T) {
	t.Parallel()
	for listens, want := range map[string]map[string]bool{
		"127.0.0.1:5061": {
			"127.0.0.1:5061": true, "[::ffff:127.0.0.1]:5061": true, "0.0.0.0:5061": true, "[::]:5061": true,
			"127.0.0.1:5071": false, "127.0.0.2:5061": false, "[::1]:5061": false, "192.0.2.1:5061": false,
		},
		"0.0.0.0:5061": {
			"127.0.0.1:5061": true, "127.9.9.9:5061": true, "192.0.2.1:5061": true, "[::ffff:192.0.2.1]:5061": true, "0.0.0.0:5061": true,
			"[2001:db8::1]:5061": true, "[2001:db8::1%eth0]:5061": true, "192.0.2.2:5061": false, "192.0.2.1:5071": false,
		},
		"192.0.2.1:5061": {"192.0.2.1:5061": true, "0.0.0.0:5061": false, "127.0.0.1:5061": false},
		"[::1]:5061":     {"[::1]:5061": true, "[::]:5061": true, "127.0.0.1:5061": false},
	} {
		s := self.Server{Interfaces: machine}
		s.Listen(netip.MustParseAddrPort(listens))
		for to, want := range want {
			if got := s.At(netip.MustParseAddrPort(to)); got != want {
				t.Errorf("listening at %s, %s is this server: %t", listens, to, got)
			}
		}
	}
}

func TestHost(t *testing.T) {
	t.Parallel()
	s := self.Server{Interfaces: machine}
	s.Listen(netip.MustParseAddrPort("127.0.0.1:5061"))
	s.Name("SIP.example.com", 5061)
	s.Name("203.0.113.9", 5061) // a gateway that forwards calls
	s.Name("", 5061)
	for _, c := range []struct {
		host          string
		port          uint16
		named, isHost bool
	}{
		{"sip.example.com", 5061, true, true}, {"Sip.Example.Com.", 5061, true, true}, {"sip.example.com", 5071, false, false},
		{"pbx.example.com", 5061, false, false}, {"localhost", 5061, false, true}, {"LOCALHOST.", 5061, false, true},
		{"localhost", 5071, false, false}, {"127.0.0.1", 5061, false, true}, {"203.0.113.9", 5061, false, true},
		{"[::ffff:127.0.0.1]", 5061, false, true}, {"203.0.113.9", 5071, false, false}, {"", 5061, false, false},
	} {
		if named, host := s.Named(c.host, c.port), s.Host(c.host, c.port); named != c.named || host != c.isHost {
			t.Errorf("%s:%d: named %t, host %t", c.host, c.port, named, host)
		}
	}
}

// TestUnspecifiedName checks that Name ignores the unspecified address, which would match every address of this machine.
func TestUnspecifiedName(t *testing.T) {
	t.Parallel()
	s := self.Server{Interfaces: machine}
	s.Name("0.0.0.0", 5061)
	if s.At(netip.MustParseAddrPort("192.0.2.1:5061")) || s.Host("localhost", 5061) {
		t.Error("a server that listens nowhere is somewhere")
	}
}

// TestNowhere checks that a nil Server has no listeners.
func TestNowhere(t *testing.T) {
	t.Parallel()
	var s *self.Server
	if s.At(netip.MustParseAddrPort("127.0.0.1:5061")) || s.Host("localhost", 5061) || s.Named("localhost", 5061) {
		t.Error("it is somewhere")
	}
}

func Example() {
	var s self.Server
	s.Listen(netip.MustParseAddrPort("127.0.0.1:5061"))
	fmt.Println(s.Host("localhost", 5061), s.Host("localhost", 5071))
	// Output: true false
}
