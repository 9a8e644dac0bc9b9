package probe

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	trunk "github.com/callwright/callwright/sip"
)

// The limits of the idle connections. maxIdle is the default of Config.MaxIdle. At the limit, a new connection is closed instead of an old
// one. The reason is that servers are probed in turn, so that the longest idle connection is needed next.
const (
	maxIdle  = 2000
	idleLife = 3 * time.Minute
)

// endpoint identifies connections that can be reused for each other. They have the same address, host and verification.
type endpoint struct {
	address netip.AddrPort
	host    string
	verify  trunk.TLSVerification
}

// idleConnection is a connection that waits for the next probe. Its field since holds the time at which it became idle.
type idleConnection struct {
	*connection
	since time.Time
}

// idle holds the connections that are open between probes.
type idle struct {
	mu          sync.Mutex
	connections map[endpoint][]idleConnection
	count       int
	swept       time.Time
	most        int
	closed      bool
}

// reuse returns an idle connection to an endpoint and no longer holds it. It returns nil if there is none.
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

// store replaces the idle connections of an endpoint. The caller must hold the mutex.
func (i *idle) store(e endpoint, list []idleConnection) {
	i.count += len(list) - len(i.connections[e])
	if len(list) == 0 {
		delete(i.connections, e)
	} else {
		i.connections[e] = list
	}
}

// park holds a connection for the next probe, or closes it if the limit is reached or the Prober is closed.
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

// sweep closes the connections that have been idle for longer than idleLife. It does nothing if the last sweep was less than idleLife/3
// ago. The caller must hold the mutex.
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
