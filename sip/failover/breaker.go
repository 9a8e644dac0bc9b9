package failover

import (
	"sync"
	"time"
)

// The bounds of a Breaker.
const (
	OpenFor = 30 * time.Second // how long a server that failed is left alone
	maxOpen = 10_000           // how many servers it remembers
)

// Breaker remembers on this node which servers have just failed a call, until probes and other nodes know it too. Its
// zero value is ready, and it is safe for concurrent use.
type Breaker struct {
	mu   sync.Mutex
	open map[string]time.Time // by server: until when no call tries it
}

// Allow says whether a call may try a server. Of a server that failed, it lets one call through after OpenFor, and when
// nothing is heard of that one, another after OpenFor again.
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
		b.forgetOldest()
	}
	b.open[server] = now.Add(OpenFor)
}

func (b *Breaker) forgetOldest() {
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
