package source

import (
	"net/netip"

	"golang.org/x/time/rate"

	"github.com/callwright/callwright"
)

// The limits of callers and numbers behind a trusted source.
const (
	behindAtOnce = 60     // refused concurrent calls
	behindRate   = 1      // refused calls a second from then on
	maxBehind    = 10_000 // callers and numbers that are remembered
	maxSide      = 64     // bytes of a caller that tell it from others
)

// Sides are the two sides of an INVITE. An empty one is not counted.
type Sides struct{ Caller, Called string }

// side is a caller or a called number behind a source.
type side struct {
	source netip.Addr
	called bool
	name   string
}

// of returns the sides behind a source that are counted.
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

// Held reports whether a call behind a trusted source is refused without a look-up: too many calls of its caller, or to its
// number, have been refused. Other calls of the source continue.
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

// charge counts a refused call to its sides. The mutex is held.
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

// deleteSide deletes, of a few sides, the one with the fewest refused calls: a map gives them in random order.
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
