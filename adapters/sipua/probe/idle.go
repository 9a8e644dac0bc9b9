package probe

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	trunk "github.com/callwright/callwright/sip"
)

// The bounds of the idle connections. At the limit new ones are closed instead of old ones: servers are asked in turn, so
// the connection that is idle for longest is needed next.
const (
	maxIdle  = 2000
	idleLife = 3 * time.Minute
)

// endpoint identifies connections that may be reused: a server's address under a name and a verification.
type endpoint struct {
	address netip.AddrPort
	host    string
	verify  trunk.TLSVerification
}

// idleConnection is a connection without a request.
type idleConnection struct {
	*connection
	since time.Time
}

// idle holds connections from one probe to the next.
type idle struct {
	mu          sync.Mutex
	connections map[endpoint][]idleConnection
	count       int
	swept       time.Time
	most        int
	closed      bool
}

// reuse removes and returns a connection; nil without one.
func (i *idle) reuse(e endpoint) *connection {
	i.mu.Lock()
	defer i.mu.Unlock()
	list := i.connections[e]
	if len(list) == 0 {
		return nil
	}
	last := list[len(list)-1]
	i.store(e, list[:len(list)-1])
	return last.connection
}

// store replaces the list of an endpoint.
func (i *idle) store(e endpoint, list []idleConnection) {
	i.count += len(list) - len(i.connections[e])
	if len(list) == 0 {
		delete(i.connections, e)
	} else {
		i.connections[e] = list
	}
}

// park keeps a connection, or closes it when there is no room.
func (i *idle) park(e endpoint, c *connection, now time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.sweep(now)
	if i.closed || i.count >= i.most {
		_ = c.Close()
		return
	}
	if len(c.data) == 0 {
		c.buffer, c.data = nil, nil
	}
	i.store(e, append(i.connections[e], idleConnection{c, now}))
}

// sweep closes, from time to time, connections to servers that are not asked any more.
func (i *idle) sweep(now time.Time) {
	if now.Sub(i.swept) < idleLife/3 {
		return
	}
	i.swept = now
	for e, list := range i.connections {
		i.store(e, slices.DeleteFunc(slices.Clone(list), func(p idleConnection) bool {
			old := now.Sub(p.since) > idleLife
			if old {
				_ = p.Close()
			}
			return old
		}))
	}
}

func (i *idle) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	for e, list := range i.connections {
		for _, p := range list {
			_ = p.Close()
		}
		i.store(e, nil)
	}
}
