package source_test

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/adapters/sipua/internal/source"
)

func enters(l *source.Limiter, a netip.Addr) bool {
	_, ok := l.Enter(a, true)
	return ok
}

func TestSources(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := source.NewLimiter(5, nil, func() time.Time { return now })
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	var entry source.Entry
	for i := range 12 {
		e, ok := s.Enter(a, true)
		if ok != (i < 10) {
			t.Errorf("INVITE %d at once: %t", i, ok)
		}
		if ok {
			entry = e
		}
	}
	if !enters(s, b) {
		t.Error("another source pays for it")
	}
	now = now.Add(time.Second)
	if enters(s, a) {
		t.Error("as many wait as may, and one more comes in")
	}
	s.Leave(entry)
	if !enters(s, a) {
		t.Error("a second later there is no room")
	}

	for range 19 {
		s.Refused(a, source.Sides{})
	}
	now = now.Add(time.Minute)
	s.Refused(a, source.Sides{})
	if s.Blocked(a) {
		t.Error("20 refusals in more than a minute")
	}
	for range 19 {
		s.Refused(a, source.Sides{})
	}
	if !s.Blocked(a) || !s.Blocked(netip.MustParseAddr("::ffff:192.0.2.1")) || s.Blocked(b) {
		t.Error("20 refusals in a minute")
	}
	now = now.Add(10 * time.Minute)
	if s.Blocked(a) {
		t.Error("it is barred for ever")
	}
	s.Admitted(a)
	for range 30 {
		s.Refused(a, source.Sides{})
	}
	if s.Blocked(a) {
		t.Error("a source of good calls is barred")
	}
}

func TestFaultySources(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := source.NewLimiter(5, nil, func() time.Time { return now })
	a, carrier := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	if s.Admitted(carrier); !s.Known(carrier) || s.Known(a) {
		t.Error("a source is known by its admitted calls")
	}
	for i := range 200 {
		if s.Faulty(a) != (i == 99) || s.Blocked(a) != (i >= 99) {
			t.Fatalf("refused request %d", i)
		}
		if s.Faulty(carrier) {
			t.Fatal("a source of good calls is blocked")
		}
	}
	for i := range 12 {
		if s.Probe(carrier) != (i < 10) {
			t.Errorf("OPTIONS %d at once", i)
		}
	}
	now = now.Add(time.Second)
	if !s.Probe(carrier) {
		t.Error("no OPTIONS a second later")
	}
}

// TestFaultAfterABlock checks that a fault after a block for refused calls does not block the source again.
func TestFaultAfterABlock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := source.NewLimiter(5, nil, func() time.Time { return now })
	a := netip.MustParseAddr("192.0.2.1")
	for range 20 {
		s.Refused(a, source.Sides{})
	}
	if !s.Blocked(a) {
		t.Fatal("20 refused calls in a minute did not block the source")
	}
	now = now.Add(11 * time.Minute)
	if s.Faulty(a) || s.Blocked(a) {
		t.Error("a single fault blocked the source again")
	}
}

// TestSourcesArePaced checks that a source may send a second's requests in a burst, that further requests wait, and that other sources do
// not.
func TestSourcesArePaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := source.NewLimiter(50, nil, time.Now)
		a, began := netip.MustParseAddr("192.0.2.1"), time.Now()
		for range 400 {
			s.Wait(t.Context(), a)
		}
		if d := time.Since(began); d != 0 {
			t.Errorf("400 requests at once take %s", d)
		}
		for range 400 {
			s.Wait(t.Context(), a)
		}
		if d := time.Since(began).Round(time.Millisecond); d != time.Second {
			t.Errorf("800 requests take %s", d)
		}
		s.Wait(t.Context(), netip.MustParseAddr("192.0.2.2"))
		if d := time.Since(began).Round(time.Millisecond); d != time.Second {
			t.Error("another source waits")
		}
	})
}

// TestSourcesOfCallsAreRemembered checks that many new sources do not displace a source with an admitted call.
func TestSourcesOfCallsAreRemembered(t *testing.T) {
	t.Parallel()
	s := source.NewLimiter(1, nil, time.Now)
	carrier := netip.MustParseAddr("192.0.2.1")
	s.Admitted(carrier)
	a := netip.MustParseAddr("10.0.0.0")
	for range 30_000 {
		a = a.Next()
		s.Faulty(a)
	}
	if !s.Known(carrier) {
		t.Error("a source of calls is forgotten")
	}
}

func TestSourcesAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := source.NewLimiter(1, nil, func() time.Time { now = now.Add(time.Microsecond); return now })
	waiting := netip.MustParseAddr("192.0.2.1")
	for range 2 {
		if !enters(s, waiting) {
			t.Fatal("no room")
		}
	}
	a := netip.MustParseAddr("10.0.0.0")
	for range 30_000 {
		a = a.Next()
		s.Refused(a, source.Sides{})
	}
	if n := source.Known(s); n > 10_000 {
		t.Errorf("%d sources are remembered", n)
	}
	if enters(s, waiting) {
		t.Error("one with calls under way is forgotten")
	}
}

// TestLinesOfTheLog checks that the number of log lines is limited, and that each line counts the source's refused calls since its last
// line.
func TestLinesOfTheLog(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := source.NewLimiter(5, nil, func() time.Time { return now })
	a := netip.MustParseAddr("192.0.2.1")
	for i, want := range []int{1, 0, 0} {
		if n, due := s.Log(a); n != want || due != (want > 0) {
			t.Errorf("call %d: %d, %t", i, n, due)
		}
	}
	now = now.Add(time.Minute)
	if n, due := s.Log(a); n != 3 || !due {
		t.Errorf("a minute later: %d, %t", n, due)
	}
	now = now.Add(time.Minute)
	lines := 0
	for i := range 1000 { // at the same time
		if _, due := s.Log(netip.AddrFrom4([4]byte{198, 51, byte(i / 250), byte(i % 250)})); due {
			lines++
		}
	}
	if lines != 30 {
		t.Errorf("%d lines for 1000 sources", lines)
	}
	now = now.Add(time.Second)
	if n, due := s.Log(netip.MustParseAddr("198.51.3.249")); n != 2 || !due {
		t.Errorf("a second later: %d, %t", n, due)
	}
}
