package resolve

import (
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// The bounds of a cache. The DNS port shows no time to live, so answers age by our own measure; the failures that it
// holds are those that say there is nothing, not those that say that nobody knows.
const (
	keepFound   = 30 * time.Second
	keepFailure = 5 * time.Second
	maxEntries  = 10_000
)

// cache keeps answers for a short time.
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

// get gives the kept answer, or asks for one. Who gets a value must not change it.
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
	c.put(key, e, now)
	return e.value, e.err
}

// put keeps an entry. Where there is no room, the old ones go, and if that is not enough any one.
func (c *cache[K, V]) put(key K, e entry[V], now time.Time) {
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
