package call

import (
	"sync"
	"time"
)

// steadyAfter is how long this node waits, after it could not be heard of for as long, before it takes others for dead.
// It is more than a heartbeat may take.
const steadyAfter = deadAfter / 2

// pulse is how this node's own heartbeat goes. While the database is away nobody can be heard of, and when it is back all
// nodes are late: whoever swept then would close calls that are alive.
type pulse struct {
	mu   sync.Mutex
	last time.Time // the last beat; zero: there was none
	back time.Time // the first beat after a gap; zero: there was none
}

// beat notes a beat and gives the time since the one before; 0 for the first.
func (p *pulse) beat(now time.Time) (gap time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.last.IsZero() {
		gap = now.Sub(p.last)
	}
	if gap > steadyAfter {
		p.back = now
	}
	p.last = now
	return gap
}

// steady says whether the others had the time to be heard of since this node was not.
func (p *pulse) steady(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last.IsZero() || now.Sub(p.last) <= steadyAfter && now.Sub(p.back) >= steadyAfter
}
