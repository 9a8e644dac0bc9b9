package source_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua/internal/source"
)

// TestTrustedSources checks that a trusted source is never blocked. Refused calls of one caller, or to one number, must hold only that
// caller or number, at a rate of one call per second.
func TestTrustedSources(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	carrier, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	s := source.NewLimiter(5, func(a netip.Addr) bool { return a == carrier }, func() time.Time { return now })
	scanner, person := source.Sides{Caller: "scanner"}, source.Sides{Caller: "person", Called: "+15550100"}
	for i := range 500 {
		scanner.Called = fmt.Sprint(i)
		if held := s.Held(carrier, scanner); held != (i >= 60) {
			t.Fatalf("call %d of the scanner is held: %t", i, held)
		} else if !held && s.Refused(carrier, scanner) || s.Faulty(carrier) || s.Blocked(carrier) {
			t.Fatalf("call %d blocks the carrier", i)
		}
		if s.Held(carrier, person) {
			t.Fatalf("call %d holds another caller", i)
		}
	}
	now = now.Add(time.Second)
	if s.Held(carrier, scanner) {
		t.Error("a second later the scanner may not try once")
	}
	if s.Refused(carrier, scanner); !s.Held(carrier, scanner) {
		t.Error("it may try twice")
	}
	if s.Held(other, scanner) {
		t.Error("it is held elsewhere")
	}

	for i := range 60 {
		s.Refused(carrier, source.Sides{Caller: fmt.Sprint("caller ", i), Called: "+15550199"})
	}
	if !s.Held(carrier, source.Sides{Caller: "another", Called: "+15550199"}) || s.Held(carrier, person) {
		t.Error("calls to a wrong number hold that number alone")
	}
	for range 100 {
		s.Refused(carrier, source.Sides{})
	}
	if s.Held(carrier, source.Sides{}) {
		t.Error("callers without a name are taken for one")
	}
	long := strings.Repeat("x", 64)
	for i := range 60 {
		s.Refused(carrier, source.Sides{Caller: fmt.Sprint(long, i)})
	}
	if !s.Held(carrier, source.Sides{Caller: long}) {
		t.Error("a long name is kept in whole")
	}
}

// TestSharesOfATrustedSource checks that calls to unserved numbers have separate limits behind a trusted source, but not behind other
// sources.
func TestSharesOfATrustedSource(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	carrier, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	s := source.NewLimiter(5, func(a netip.Addr) bool { return a == carrier }, func() time.Time { return now })
	count := func(a netip.Addr, served bool) (n int) {
		for range 50 {
			e, ok := s.Enter(a, served)
			if !ok {
				break
			}
			s.Leave(e)
			n++
		}
		return n
	}
	if wrong, right := count(carrier, false), count(carrier, true); wrong != 10 || right != 10 {
		t.Errorf("the carrier may send %d wrong and then %d right ones", wrong, right)
	}
	if wrong, right := count(other, false), count(other, true); wrong != 10 || right != 0 {
		t.Errorf("others may send %d wrong and then %d right ones", wrong, right)
	}
}

// TestTrustEndsABlock checks that a source is not blocked while it is trusted, and that its block applies again when it is no longer
// trusted.
func TestTrustEndsABlock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	trusted, a := false, netip.MustParseAddr("192.0.2.1")
	s := source.NewLimiter(5, func(netip.Addr) bool { return trusted }, func() time.Time { return now })
	for i := range 20 {
		if s.Refused(a, source.Sides{Caller: "x"}) != (i == 19) {
			t.Fatalf("call %d", i)
		}
	}
	if trusted = true; s.Blocked(a) || s.Held(a, source.Sides{Caller: "x"}) {
		t.Error("it stays blocked")
	}
	if trusted = false; !s.Blocked(a) {
		t.Error("it stays trusted")
	}
}

// TestSidesAreBounded checks that invented callers do not exceed the limit of stored callers, and that they do not displace a held caller.
func TestSidesAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	a := netip.MustParseAddr("192.0.2.1")
	s := source.NewLimiter(5, func(netip.Addr) bool { return true }, func() time.Time { return now })
	for range 60 {
		s.Refused(a, source.Sides{Caller: "scanner"})
	}
	for i := range 30_000 {
		s.Refused(a, source.Sides{Caller: fmt.Sprint(i)})
	}
	if n := source.Behind(s); n > 10_000 {
		t.Errorf("%d callers are remembered", n)
	}
	if !s.Held(a, source.Sides{Caller: "scanner"}) {
		t.Error("the scanner is forgotten")
	}
}
