package source

import (
	"net/netip"

	"golang.org/x/time/rate"

	"github.com/callwright/callwright"
)

// The limits for callers and numbers behind a trusted source.
const (
	behindAtOnce = 60     // refused calls in a burst
	behindRate   = 1      // refused calls per second after the burst
	maxBehind    = 10_000 // maximum number of stored callers and numbers
	maxSide      = 64     // number of bytes of a name that distinguish callers
)

// Sides holds the caller and the called number of an INVITE. An empty field is not counted.
type Sides struct{ Caller, Called string }

// side identifies a caller or a called number behind a trusted source.
type side struct {
	source netip.Addr
	called bool
	name   string
}

// of returns the sides that are not empty, as sides behind a source.
func (s Sides) of(a netip.Addr) []side {
	var all []side
	for _, one := range []side{{name: s.Caller}, {called: true, name: s.Called}} {
		if one.name != "" {
			one.source, one.name = callwright.Source(a), one.name[:min(len(one.name), maxSide)]
			all = append(all, one)
		}
	}
	return all
}

// Held reports whether a call behind a trusted source must be refused without a route lookup, because too many calls of its caller or to
// its number have been refused. Other calls from the source are not affected. Held returns false for a source that is not trusted.
func (l *Limiter) Held(a netip.Addr, s Sides) bool {
	if !l.trusted(a) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range s.of(a) {
		if pace := l.behind[one]; pace != nil && pace.TokensAt(l.now()) < 1 {
			return true
		}
	}
	return false
}

// charge counts a refused call against its sides. The caller must hold the mutex.
func (l *Limiter) charge(a netip.Addr, s Sides) {
	now := l.now()
	for _, one := range s.of(a) {
		pace := l.behind[one]
		if pace == nil {
			if len(l.behind) >= maxBehind {
				l.deleteSide()
			}
			pace = rate.NewLimiter(behindRate, behindAtOnce)
			l.behind[one] = pace
		}
		pace.AllowN(now, 1)
	}
}

// deleteSide deletes, among 32 random sides, the side with the fewest refused calls. Go iterates over a map in random order.
func (l *Limiter) deleteSide() {
	const few = 32
	var best side
	most, looked := -1.0, 0
	for one, pace := range l.behind {
		if left := pace.TokensAt(l.now()); left > most {
			best, most = one, left
		}
		if looked++; looked >= few {
			break
		}
	}
	delete(l.behind, best)
}
