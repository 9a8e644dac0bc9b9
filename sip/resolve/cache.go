package resolve

import (
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// The limits of a cache. The DNS port gives no time to live, so answers expire after fixed times. Only negative answers are
// cached among failures, not timeouts and server failures.
const (
	keepFound   = 30 * time.Second
	keepFailure = 5 * time.Second
	maxEntries  = 10_000
)

// cache holds answers for a short time.
type cache[K comparable, V any] struct {
	clock callwright.Clock

	mu      sync.Mutex
	entries map[K]entry[V]
}

type entry[V any] struct {
	value V
	err   error
	until time.Time
}

func newCache[K comparable, V any](clock callwright.Clock) *cache[K, V] {
	return &cache[K, V]{clock: clock, entries: map[K]entry[V]{}}
}

// get returns the cached answer, or calls ask. Callers must not modify the value.
func (c *cache[K, V]) get(key K, ask func() (V, error)) (V, error) {
	now := c.clock.Now()
	c.mu.Lock()
	e, ok := c.entries[key]
	c.mu.Unlock()
	if ok && now.Before(e.until) {
		return e.value, e.err
	}
	e.value, e.err = ask()
	switch {
	case e.err == nil:
		e.until = now.Add(keepFound)
	case notFound(e.err):
		e.until = now.Add(keepFailure)
	default:
		return e.value, e.err
	}
	c.store(key, e, now)
	return e.value, e.err
}

// store adds an entry. A full cache drops its expired entries, or else an arbitrary one.
func (c *cache[K, V]) store(key K, e entry[V], now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) >= maxEntries {
		for k, old := range c.entries {
			if !now.Before(old.until) {
				delete(c.entries, k)
			}
		}
	}
	if len(c.entries) >= maxEntries {
		for k := range c.entries {
			delete(c.entries, k)
			break
		}
	}
	c.entries[key] = e
}
