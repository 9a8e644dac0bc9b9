package failover

import (
	"sync"
	"time"
)

// Limits of a Breaker.
const (
	OpenFor = 30 * time.Second // time for which a circuit stays open after a failure
	maxOpen = 10_000           // maximum number of open circuits
)

// Breaker contains a circuit breaker for each server. It makes calls on this node skip servers that have just failed a call, before probes
// detect the failure. The zero value is ready to use. A Breaker is safe for concurrent use.
type Breaker struct {
	mu   sync.Mutex
	open map[string]time.Time // maps servers to the times until which calls skip them
}

// Allow reports whether a call may try a server. After OpenFor, an open circuit lets one call through, and then one more per OpenFor, until
// the result of such a call is reported.
func (b *Breaker) Allow(server string, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	until, failed := b.open[server]
	if !failed {
		return true
	}
	if now.Before(until) {
		return false
	}
	b.open[server] = now.Add(OpenFor)
	return true
}

// Failed opens the circuit of a server for OpenFor, even if it is already open.
func (b *Breaker) Failed(server string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == nil {
		b.open = map[string]time.Time{}
	}
	if _, known := b.open[server]; !known && len(b.open) == maxOpen {
		b.deleteOldest()
	}
	b.open[server] = now.Add(OpenFor)
}

func (b *Breaker) deleteOldest() {
	var oldest string
	var at time.Time
	for server, until := range b.open {
		if at.IsZero() || until.Before(at) {
			oldest, at = server, until
		}
	}
	delete(b.open, oldest)
}

// Succeeded closes the circuit of a server.
func (b *Breaker) Succeeded(server string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, server)
}
