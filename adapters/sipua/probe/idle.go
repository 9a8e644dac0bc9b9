package probe

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	trunk "github.com/callwright/callwright/sip"
)

// The bounds of the connections that wait for the next probe. Once there are as many as that, further ones are not kept,
// rather than in exchange for others: servers are asked in turn, so whoever waits longest is asked next.
const (
	maxIdle  = 2000
	idleLife = 3 * time.Minute
)

// flow is what a connection may be used for again: a server's address under a name and a way to check it.
type flow struct {
	address netip.AddrPort
	host    string
	verify  trunk.TLSVerification
}

// parked is a connection that waits.
type parked struct {
	*connection
	since time.Time
}

// idle keeps connections from one probe to the next.
type idle struct {
	mu          sync.Mutex
	connections map[flow][]parked
	count       int
	swept       time.Time
	most        int
	closed      bool
}

// take gives a connection, or nil.
func (i *idle) take(f flow) *connection {
	i.mu.Lock()
	defer i.mu.Unlock()
	list := i.connections[f]
	if len(list) == 0 {
		return nil
	}
	last := list[len(list)-1]
	i.put(f, list[:len(list)-1])
	return last.connection
}

// put replaces the list of a flow.
func (i *idle) put(f flow, list []parked) {
	i.count += len(list) - len(i.connections[f])
	if len(list) == 0 {
		delete(i.connections, f)
	} else {
		i.connections[f] = list
	}
}

// park keeps a connection, or closes it when there is no room.
func (i *idle) park(f flow, c *connection, now time.Time) {
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
	i.put(f, append(i.connections[f], parked{c, now}))
}

// sweep closes, once in a while, what has waited for too long: nobody asks these servers any more.
func (i *idle) sweep(now time.Time) {
	if now.Sub(i.swept) < idleLife/3 {
		return
	}
	i.swept = now
	for f, list := range i.connections {
		i.put(f, slices.DeleteFunc(slices.Clone(list), func(p parked) bool {
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
	for f, list := range i.connections {
		for _, p := range list {
			_ = p.Close()
		}
		i.put(f, nil)
	}
}
