package httpapi

import (
	"cmp"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// The defaults of Connections.
const (
	DefaultConnections           = 2000
	DefaultConnectionsPerAddress = 200
)

// Connections bounds the connections of a listener.
type Connections struct {
	Total      int            // 0: DefaultConnections
	PerAddress int            // of one IPv4 address or one IPv6 /64 network; 0: DefaultConnectionsPerAddress; at least Total: no bound
	Trusted    []netip.Prefix // proxies, whose connections are many people's: PerAddress does not count for them

	callwright.Runtime // its Logger hears of connections that are closed for a bound, once a minute
}

// Limit returns a listener that keeps the bounds. For a connection beyond them it closes one that has no request, if a server of
// NewServer uses the listener: the one that has been idle longest, of the address that has the most connections. It never closes a
// connection of an address with fewer connections than the new one's. Where no connection can be closed, the new one is. A reverse
// proxy, which many connections come from, belongs into Trusted, and bounds its clients.
func (c Connections) Limit(l net.Listener) net.Listener {
	c.Total, c.PerAddress = cmp.Or(c.Total, DefaultConnections), cmp.Or(c.PerAddress, DefaultConnectionsPerAddress)
	c.Runtime = c.WithDefaults()
	return &limitListener{Listener: l, limits: c, open: map[*limitedConn]bool{}, from: map[netip.Addr]int{}}
}

type limitListener struct {
	net.Listener
	limits Connections

	mu      sync.Mutex
	open    map[*limitedConn]bool
	from    map[netip.Addr]int // of open, by source
	refused tally
	closed  tally
}

// tally counts events that are logged once a minute.
type tally struct {
	count int
	told  time.Time
}

// Accept waits for the next connection that there is room for.
func (l *limitListener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		remote, _ := netip.ParseAddrPort(inner.RemoteAddr().String()) // a Unix socket has none: all of those are one source
		conn := &limitedConn{Conn: inner, listener: l, from: callwright.Source(remote.Addr())}
		conn.trusted = contains(l.limits.Trusted, plainAddr(remote.Addr()))
		idle, ok := l.admit(conn)
		if idle != nil {
			_ = idle.Close()
		}
		if ok {
			return conn, nil
		}
		_ = inner.Close()
	}
}

// admit counts a connection. It returns the one to close for it, if there must be one, and reports whether there is room.
func (l *limitListener) admit(conn *limitedConn) (idle *limitedConn, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.limits.Total || l.full(conn) {
		if idle = l.idlest(conn); idle == nil {
			l.log(&l.refused, "HTTP connections are refused, because too many are open", conn.from)
			return nil, false
		}
		l.unlist(idle)
		l.log(&l.closed, "idle HTTP connections are closed for new ones, because too many are open", idle.from)
	}
	l.open[conn] = true
	l.from[conn.from]++
	return idle, true
}

// full reports whether the address of a new connection has reached its maximum. The caller holds the lock.
func (l *limitListener) full(conn *limitedConn) bool {
	return !conn.trusted && l.from[conn.from] >= l.limits.PerAddress
}

// idlest returns the connection to close for a new one; nil if there is none.
func (l *limitListener) idlest(conn *limitedConn) (found *limitedConn) {
	from, full := conn.from, l.full(conn)
	for c := range l.open {
		if c.idle.IsZero() || c.from != from && (full || l.from[c.from] <= l.from[from]) {
			continue
		}
		if found == nil || cmp.Or(cmp.Compare(l.from[c.from], l.from[found.from]), found.idle.Compare(c.idle)) > 0 {
			found = c
		}
	}
	return found
}

func (l *limitListener) log(t *tally, text string, from netip.Addr) {
	t.count++
	if now := time.Now(); now.Sub(t.told) >= time.Minute {
		l.limits.Logger.Warn(text, "count", t.count, "last_from", from, "open", len(l.open), "limit", l.limits.Total,
			"limit_per_address", l.limits.PerAddress)
		t.count, t.told = 0, now
	}
}

// unlist subtracts a connection from the count, once. The caller holds the lock.
func (l *limitListener) unlist(c *limitedConn) {
	if !l.open[c] {
		return
	}
	delete(l.open, c)
	if l.from[c.from]--; l.from[c.from] == 0 {
		delete(l.from, c.from)
	}
}

// limitedConn leaves its listener's count when it closes.
type limitedConn struct {
	net.Conn
	listener *limitListener
	from     netip.Addr
	trusted  bool      // Connections.Trusted has its address
	idle     time.Time // since when it has no request; zero: it has one, or its state is not reported
}

// noteState notes which connections have a request: http.Server.ConnState.
func noteState(conn net.Conn, state http.ConnState) {
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secure.NetConn()
	}
	c, ok := conn.(*limitedConn)
	if !ok {
		return
	}
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.idle = time.Time{}
	if state == http.StateNew || state == http.StateIdle {
		c.idle = time.Now()
	}
}

// Close closes the connection.
func (c *limitedConn) Close() error {
	defer func() {
		c.listener.mu.Lock()
		defer c.listener.mu.Unlock()
		c.listener.unlist(c)
	}()
	return c.Conn.Close()
}

// CloseWrite ends the sending direction, so that a client that still sends reads its answer before the connection is closed.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
