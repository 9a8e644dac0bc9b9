package failover

import (
	"sync"
	"time"
)

// The limits of a Breaker.
const (
	OpenFor = 30 * time.Second // the time for which a circuit stays open after a failure
	maxOpen = 10_000           // circuits that are remembered
)

// Breaker is a circuit breaker for each server: it holds, on this node, the servers that have just failed a call, before probes
// detect it. The zero value is ready to use, and safe for concurrent use.
type Breaker struct {
	mu   sync.Mutex
	open map[string]time.Time // by server: time until which calls skip it
}

// Allow reports whether a call may try a server. An open circuit lets one call through after OpenFor, and another one each
// OpenFor until the outcome of one is known.
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

// Failed opens the circuit of a server, or keeps it open.
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
