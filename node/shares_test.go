package node_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/callwright/callwright/node"
)

// fakeTime is a clock that the test moves.
type fakeTime struct{ now time.Time }

func (f *fakeTime) Now() time.Time { return f.now }

// TestSharesLeaveRoom has users claim as many places as they can and sometimes return places. A new user must always find a free place.
func TestSharesLeaveRoom(t *testing.T) {
	t.Parallel()
	for total := 2; total <= 20; total++ {
		s := &node.Shares{Total: total}
		held := make([][]func(), total/2)
		fill := func(user int) {
			for {
				release, wait := s.Claim(fmt.Sprint(user))
				if release == nil {
					if wait < 250*time.Millisecond || wait > 45*time.Second {
						t.Errorf("wait %s", wait)
					}
					return
				}
				held[user] = append(held[user], release)
			}
		}
		fill(0)
		if got, want := len(held[0]), (total+1)/2; got != want {
			t.Errorf("of %d places one user alone has %d, want %d", total, got, want)
		}
		for range total {
			for user, places := range held {
				if len(places) > 0 {
					places[0]()
					held[user] = places[1:]
				}
				for other := range held {
					fill(other)
				}
			}
		}
		release, _ := s.Claim("newcomer")
		for user, places := range held {
			if len(places) == 0 || release == nil {
				t.Errorf("of %d places user %d has %d, and is a newcomer left out: %t", total, user, len(places), release == nil)
			}
		}
	}
}

func TestSharesUpTo(t *testing.T) {
	t.Parallel()
	s := &node.Shares{Total: 10}
	release, _ := s.ClaimUpTo("a", 1)
	if again, wait := s.ClaimUpTo("a", 1); release == nil || again != nil || wait == 0 {
		t.Error("a user has more than he may")
	}
	release()
	if release, _ = s.ClaimUpTo("a", 1); release == nil {
		t.Error("a place that was given back is gone")
	}
}

// TestSharesSpread checks the waits of 100 refused callers: they lie in a range that depends on the rate at which places become free.
func TestSharesSpread(t *testing.T) {
	t.Parallel()
	clock := &fakeTime{time.Now()}
	s := &node.Shares{Total: 2, Clock: clock}
	waits := func() (first, last time.Duration) {
		release, _ := s.Claim("a")
		for i := range 100 {
			_, wait := s.Claim("a")
			if i == 0 {
				first = wait
			}
			last = wait
		}
		clock.now = clock.now.Add(10 * time.Second) // the work holds its place for long
		release()
		return first, last
	}
	if _, last := waits(); last < time.Second || last > 4*time.Second {
		t.Errorf("before any has ended, the last waits %s", last)
	}
	clock.now = clock.now.Add(time.Hour)
	if first, last := waits(); first < 10*time.Second || first > 15*time.Second || last < 30*time.Second || last > 45*time.Second {
		t.Errorf("when each takes 10 s, they wait from %s to %s", first, last)
	}
}

// TestSharesForget checks that many earlier users who have returned their places leave room for new ones, and that a user who still holds a
// place is not forgotten.
func TestSharesForget(t *testing.T) {
	t.Parallel()
	s := &node.Shares{Total: 4}
	if release, _ := s.ClaimUpTo("stays", 1); release == nil {
		t.Fatal("no place")
	}
	for i := range 1000 {
		release, _ := s.Claim(fmt.Sprint(i))
		if release == nil {
			t.Fatalf("user %d has no place", i)
		}
		release()
	}
	if release, _ := s.ClaimUpTo("stays", 1); release != nil {
		t.Error("what a user holds was forgotten")
	}
}
