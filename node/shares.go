package node

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// The limits of the waits that Shares returns. spreadOut then extends a wait by up to half.
const (
	shareLeast   = 250 * time.Millisecond
	shareMost    = 30 * time.Second
	shareUnknown = 20 * time.Millisecond // interval between refused callers while the duration of work is unknown
)

// Shares limits concurrent work so that every user can claim a place. A user can claim a further place only while it holds fewer places
// than are free. A single user can therefore hold half of the places, two users a third each after some places were returned, and so on,
// and a new user finds a free place. Claim never waits: a task without a place is postponed, so that its worker can do other work. Set
// Total before the first Claim.
type Shares struct {
	Total int              // number of places; if 1, the first caller gets it
	Clock callwright.Clock // nil means SystemClock

	mu   sync.Mutex
	used int
	by   map[string]*share
}

// share is the state of a user that holds places, or was recently refused a place.
type share struct {
	held int
	took time.Duration // moving average of how long places were held
	next time.Time     // when the caller that was refused last will retry
}

// Claim claims a place for a user. release returns the place and must be called once. If release is nil, no place is available for the
// user, and wait is the time until the next try, from 250 ms to 45 s. Callers that are refused concurrently receive different waits,
// according to the rate at which the user's places become free.
func (s *Shares) Claim(user string) (release func(), wait time.Duration) {
	return s.ClaimUpTo(user, s.Total)
}

// ClaimUpTo claims a place like Claim, unless the user already holds the given maximum number of places.
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

// spreadOut adds a random time of up to half of d to d.
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

// of returns the state of a user, and creates it if necessary. If many states are stored, of first deletes the states of users that neither
// hold nor wait for a place. The caller must hold the lock.
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
