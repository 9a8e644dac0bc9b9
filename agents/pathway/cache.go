package pathway

import "sync"

// maxGraphs bounds the graphs that are kept ready.
const maxGraphs = 256

// cache keeps the graphs that were used last. However many want one at once, it is compiled once.
type cache struct {
	mu     sync.Mutex
	graphs map[string]*cached
	clock  uint64 // counts uses
}

type cached struct {
	compile func() (*Graph, error)
	used    uint64
}

func newCache() *cache { return &cache{graphs: map[string]*cached{}} }

// get is the graph of a document under a key that no other document has.
func (c *cache) get(key string, d Document) (*Graph, error) {
	c.mu.Lock()
	c.clock++
	e, ok := c.graphs[key]
	if !ok {
		c.makeRoom()
		e = &cached{compile: sync.OnceValues(func() (*Graph, error) { return Compile(d) })}
		c.graphs[key] = e
	}
	e.used = c.clock
	c.mu.Unlock()
	return e.compile()
}

// find is a graph that is there; nil: it is not.
func (c *cache) find(key string) *Graph {
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

// makeRoom drops the graph that was not used for longest, if there are too many.
func (c *cache) makeRoom() {
	if len(c.graphs) < maxGraphs {
		return
	}
	var oldest string
	for key, e := range c.graphs {
		if oldest == "" || e.used < c.graphs[oldest].used {
			oldest = key
		}
	}
	delete(c.graphs, oldest)
}
