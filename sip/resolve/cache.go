package resolve

import (
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// Limits of a cache. The DNS interface does not provide times to live, so entries expire after fixed times. Of failures, only negative
// answers are cached, not timeouts and server failures.
const (
	keepFound   = 30 * time.Second
	keepFailure = 5 * time.Second
	maxEntries  = 10_000
)

// cache stores the answers to DNS queries for a short time.
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

// get returns the cached answer or negative answer for key. If there is none, it calls ask and caches the result, but no timeouts and
// server failures. Callers must not modify the returned value.
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

// store adds an entry. If the cache is full, store first deletes all expired entries, or an arbitrary one if none has expired.
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
