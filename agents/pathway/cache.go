package pathway

import (
	"sync"

	"github.com/callwright/callwright/agents/pathway/graph"
)

// The limits of the cache of graphs.
const (
	maxGraphs     = 256
	maxGraphBytes = 32 * graph.MaxBytes // bytes of the graphs' documents
)

// cache stores the most recently used graphs, up to its limits. Concurrent callers share one compilation.
type cache struct {
	mu     sync.Mutex
	graphs map[string]*cached
	size   int    // bytes of the documents
	clock  uint64 // incremented at every use
}

type cached struct {
	compile func() (*graph.Graph, error)
	size    int
	used    uint64
}

func newCache() *cache { return &cache{graphs: map[string]*cached{}} }

// get returns the graph of a document, and compiles it unless it is cached. key identifies the document.
func (c *cache) get(key string, d graph.Document) (*graph.Graph, error) {
	c.mu.Lock()
	c.clock++
	e, ok := c.graphs[key]
	if !ok {
		e = &cached{size: d.Size(), compile: sync.OnceValues(func() (*graph.Graph, error) { return graph.Compile(d) })}
		c.makeRoom(e.size)
		c.graphs[key] = e
		c.size += e.size
	}
	e.used = c.clock
	c.mu.Unlock()
	return e.compile()
}

// find returns the cached graph with the given key, or nil if there is none.
func (c *cache) find(key string) *graph.Graph {
	c.mu.Lock()
	e, ok := c.graphs[key]
	if ok {
		c.clock++
		e.used = c.clock
	}
	c.mu.Unlock()
	if !ok {
		return nil
	}
	g, _ := e.compile()
	return g
}

// makeRoom evicts the least recently used graphs until a document of the given size fits.
func (c *cache) makeRoom(size int) {
	for len(c.graphs) > 0 && (len(c.graphs) >= maxGraphs || c.size+size > maxGraphBytes) {
		var oldest string
		for key, e := range c.graphs {
			if oldest == "" || e.used < c.graphs[oldest].used {
				oldest = key
			}
		}
		c.size -= c.graphs[oldest].size
		delete(c.graphs, oldest)
	}
}
