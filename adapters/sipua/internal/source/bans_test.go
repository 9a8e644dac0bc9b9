package source_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua/internal/source"
	"github.com/callwright/callwright/sip/ban"
	"github.com/callwright/callwright/sip/siptest"
)

func TestBanLine(t *testing.T) {
	t.Parallel()
	siptest.RunBanLine(t, func(*testing.T) ban.Line { return source.NewLimiter(5, nil, time.Now) })
}

// TestBansAreListedAndLifted checks that Bans lists the bans of this node and of others, that Lift resets the counts, and that a ban ends
// at its time.
func TestBansAreListedAndLifted(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	s := source.NewLimiter(5, nil, func() time.Time { return now })
	for range 20 {
		s.Refused(a, source.Sides{})
	}
	s.Ban(b, now.Add(time.Minute))
	if got := s.Bans(); len(got) != 2 || !got[a].Equal(now.Add(10*time.Minute)) || !s.Blocked(b) {
		t.Errorf("the bans are %v", got)
	}
	s.Lift(a)
	for i := range 20 {
		if s.Refused(a, source.Sides{}) != (i == 19) {
			t.Errorf("refusal %d after the ban was lifted", i)
		}
	}
	if now = now.Add(time.Minute); s.Blocked(b) || len(s.Bans()) != 1 {
		t.Error("the other node's ban does not end")
	}
}
