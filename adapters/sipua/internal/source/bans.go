package source

import (
	"net/netip"
	"time"

	"github.com/callwright/callwright"
)

// Bans returns the sources that are currently blocked, with the ends of their blocks.
func (l *Limiter) Bans() map[netip.Addr]time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	all, now := map[netip.Addr]time.Time{}, l.now()
	for a, known := range l.known {
		if now.Before(known.blocked) {
			all[a] = known.blocked
		}
	}
	return all
}

// Ban blocks a source until the given time, for example because another node has blocked it.
func (l *Limiter) Ban(a netip.Addr, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of(a).blocked = until
}

// Lift ends the block of a source and resets its counts of refused requests.
func (l *Limiter) Lift(a netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.known[callwright.Source(a)]; known != nil {
		known.blocked, known.refused, known.faulty = time.Time{}, window{}, window{}
	}
}
