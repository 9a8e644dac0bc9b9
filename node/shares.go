package node

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// The bounds of a wait that Shares advise.
const (
	shareLeast   = 250 * time.Millisecond
	shareMost    = 30 * time.Second
	shareUnknown = 20 * time.Millisecond // between two that are put off, before any has ended
)

// Shares bounds concurrent work and leaves a place for every user. A user gets a further place only while it holds fewer places than
// are free. One user alone gets half of the places. Two users get a third each, after some places have been returned, and so on: a
// newcomer finds a place. Claim never waits: a task without a place is postponed, and its worker is free for others. Set Total
// before the first Claim.
type Shares struct {
	Total int              // places; with 1, the first caller gets the only place
	Clock callwright.Clock // nil: SystemClock

	mu   sync.Mutex
	used int
	by   map[string]*share
}

// share is the state of a user that has places, or was refused a place recently.
type share struct {
	held int
	took time.Duration // a moving average of the time that places were held
	next time.Time     // time at which the caller refused last will retry
}

// Claim takes a place for a user. It returns the function that returns the place, to be called once. nil: no place for the user is
// free, and wait is the time until a retry, from a quarter of a second to 45 seconds. Concurrent refusals get different waits,
// according to the rate at which the user's places become free.
func (s *Shares) Claim(user string) (release func(), wait time.Duration) {
	return s.ClaimUpTo(user, s.Total)
}

// ClaimUpTo is Claim for a user that may hold a number of places at most.
func (s *Shares) ClaimUpTo(user string, most int) (release func(), wait time.Duration) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.of(user, now)
	free := s.Total - s.used
	if free > 0 && mine.held < most && (mine.held < free || s.Total == 1) {
		mine.held++
		s.used++
		return func() { s.release(mine, now) }, 0
	}
	gap := shareUnknown
	if mine.took > 0 {
		gap = mine.took / time.Duration(max(1, mine.held))
	}
	if mine.next.Before(now) {
		mine.next = now
	}
	mine.next = mine.next.Add(gap)
	if latest := now.Add(shareMost); mine.next.After(latest) {
		mine.next = latest
	}
	wait = max(mine.next.Sub(now), shareLeast)
	return nil, spreadOut(wait)
}

// spreadOut returns a time that is up to a half longer.
func spreadOut(d time.Duration) time.Duration {
	return d + rand.N(d/2) //nolint:gosec // spreads load, hides nothing
}

// Idle reports whether all places are free.
func (s *Shares) Idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used == 0
}

func (s *Shares) release(mine *share, since time.Time) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	mine.held--
	s.used--
	took := max(now.Sub(since), 1)
	if mine.took == 0 {
		mine.took = took
	}
	mine.took += (took - mine.took) / 4
}

// of returns the state of a user. Users that hold and wait for no place have none. The caller holds the lock.
func (s *Shares) of(user string, now time.Time) *share {
	const many = 100
	if mine := s.by[user]; mine != nil {
		return mine
	}
	if s.by == nil {
		s.by = map[string]*share{}
	}
	if len(s.by) >= many+2*s.Total {
		for name, other := range s.by {
			if other.held == 0 && other.next.Before(now) {
				delete(s.by, name)
			}
		}
	}
	mine := new(share)
	s.by[user] = mine
	return mine
}

func (s *Shares) now() time.Time {
	if s.Clock == nil {
		return time.Now()
	}
	return s.Clock.Now()
}
