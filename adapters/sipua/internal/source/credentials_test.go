package source_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua/internal/source"
)

func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := source.NewLimiter(5, nil, func() time.Time { return now })
	v6, neighbor, other := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2"), netip.MustParseAddr("192.0.2.1")
	for i := range 3 {
		if s.Distrusted(neighbor, "t", "c") {
			t.Errorf("distrusted after %d", i)
		}
		s.WrongCredentials(v6, "t", fmt.Sprint(i))
		s.RightCredentials(v6, "t", "c")
	}
	if !s.Distrusted(neighbor, "t", "c") || s.Distrusted(neighbor, "u", "c") || s.Distrusted(other, "t", "c") {
		t.Error("wrong answers count for the source and the trunk")
	}
	now = now.Add(time.Minute)
	if s.Distrusted(v6, "t", "c") {
		t.Error("they count for ever")
	}
}

// TestWrongCredentialsBehindATrustedSource checks that wrong credentials of one caller behind a trusted source affect only that caller.
// Wrong credentials of many callers must affect all callers except those with correct credentials.
func TestWrongCredentialsBehindATrustedSource(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := source.NewLimiter(5, func(netip.Addr) bool { return true }, func() time.Time { return now })
	a := netip.MustParseAddr("192.0.2.1")
	s.RightCredentials(a, "t", "customer")
	distrusted := func(when string, want map[string]bool) {
		t.Helper()
		for caller, wanted := range want {
			if got := s.Distrusted(a, "t", caller); got != wanted {
				t.Errorf("%s: %q is distrusted: %t", when, caller, got)
			}
		}
	}
	for range 3 {
		s.WrongCredentials(a, "t", "guesser")
	}
	distrusted("after 3 of one", map[string]bool{"guesser": true, "customer": false, "new": false, "": false})
	if s.Distrusted(a, "u", "guesser") {
		t.Error("another trunk pays for it")
	}
	for i := range 57 {
		s.WrongCredentials(a, "t", []string{"", fmt.Sprint(i)}[i%2])
	}
	distrusted("after 60 of many", map[string]bool{"guesser": true, "customer": false, "new": true, "": true})
	if s.Distrusted(a, "u", "new") {
		t.Error("another trunk pays for it")
	}
	for range 3 {
		s.WrongCredentials(a, "t", "customer")
	}
	distrusted("after 3 of a proven one", map[string]bool{"customer": true})
	now = now.Add(time.Minute)
	distrusted("a minute later", map[string]bool{"guesser": false, "customer": false, "new": false, "": false})
	now = now.Add(time.Hour)
	for i := range 60 {
		s.WrongCredentials(a, "t", fmt.Sprint(i))
	}
	distrusted("an hour later", map[string]bool{"customer": true})
}

// TestProofsAreBounded checks that many guessing callers do not exceed the limit of stored callers, and that they do not displace a caller
// with correct credentials.
func TestProofsAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := source.NewLimiter(1, func(netip.Addr) bool { return true }, func() time.Time { now = now.Add(time.Microsecond); return now })
	a := netip.MustParseAddr("192.0.2.1")
	s.RightCredentials(a, "t", "customer")
	for i := range 30_000 {
		s.WrongCredentials(a, "t", fmt.Sprint(i))
	}
	if n := source.Proofs(s); n > 10_000 {
		t.Errorf("%d callers are remembered", n)
	}
	if s.Distrusted(a, "t", "customer") || !s.Distrusted(a, "t", "another") {
		t.Error("the caller that has proved itself is forgotten")
	}
}
