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

// Defaults of Connections.
const (
	DefaultConnections           = 2000
	DefaultConnectionsPerAddress = 200
)

// Connections limits the number of a listener's open connections.
type Connections struct {
	Total      int            // 0 means DefaultConnections
	PerAddress int            // per IPv4 address or IPv6 /64 network; 0 means DefaultConnectionsPerAddress; no limit if at least Total
	Trusted    []netip.Prefix // proxies, exempt from PerAddress because they connect for many clients

	callwright.Runtime // its Logger reports closed and refused connections, at most once a minute
}

// Limit returns a listener that enforces the limits. If a new connection exceeds them, the listener closes an open connection that has no
// request, and keeps the new one. It chooses the address with the most connections, and of this address the connection that has been idle
// longest. It closes a connection of another address only if that address has more connections than the new connection's address, and if
// the new connection's address is below PerAddress or trusted. If it can close none, it closes the new connection.
//
// The listener recognizes idle connections only if a server of NewServer uses it. A reverse proxy, from which many connections come, should
// be in Trusted and limit its own clients.
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
	from    map[netip.Addr]int // number of open connections by source
	refused tally
	closed  tally
}

// tally counts events that are logged at most once a minute.
type tally struct {
	count int
	told  time.Time
}

// Accept returns the next connection that is within the limits. It closes the others.
func (l *limitListener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		remote, _ := netip.ParseAddrPort(inner.RemoteAddr().String()) // Unix sockets have no address and count as one source
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

// admit counts a new connection, and reports whether it may stay open. If an idle connection must be closed for it, admit returns that
// connection.
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

// full reports whether the source of a new connection has reached PerAddress. It returns false for a trusted source. The caller must hold
// the lock.
func (l *limitListener) full(conn *limitedConn) bool {
	return !conn.trusted && l.from[conn.from] >= l.limits.PerAddress
}

// idlest returns the idle connection to close for a new one, or nil if there is none. The caller must hold the lock.
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

// unlist subtracts a connection from the counts. It has no effect on a connection that is not counted. The caller must hold the lock.
func (l *limitListener) unlist(c *limitedConn) {
	if !l.open[c] {
		return
	}
	delete(l.open, c)
	if l.from[c.from]--; l.from[c.from] == 0 {
		delete(l.from, c.from)
	}
}

// limitedConn is a counted connection. Close subtracts it from the counts.
type limitedConn struct {
	net.Conn
	listener *limitListener
	from     netip.Addr
	trusted  bool      // its address is in Connections.Trusted
	idle     time.Time // when it became idle; zero while it has a request, or if its state is unknown
}

// noteState records when a connection becomes idle. NewServer sets it as http.Server.ConnState.
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

// Close closes the connection and subtracts it from the counts.
func (c *limitedConn) Close() error {
	defer func() {
		c.listener.mu.Lock()
		defer c.listener.mu.Unlock()
		c.listener.unlist(c)
	}()
	return c.Conn.Close()
}

// CloseWrite closes the sending direction. A client that is still sending can then read its answer before the connection is closed. It
// returns errors.ErrUnsupported if the connection cannot do that.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
