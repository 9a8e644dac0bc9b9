package httpapi

import (
	"cmp"
	"errors"
	"log/slog"
	"net"
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
	Total      int          // 0: DefaultConnections
	PerAddress int          // of one IPv4 address or one IPv6 /64 network; 0: DefaultConnectionsPerAddress; at least Total: no bound
	Logger     *slog.Logger // hears of refused connections, once a minute; nil discards
}

// Limit returns a listener that closes connections beyond the bounds as soon as they are accepted. Behind a reverse proxy,
// which all connections come from, set PerAddress to Total, and have the proxy bound its clients.
func (c Connections) Limit(l net.Listener) net.Listener {
	c.Total, c.PerAddress = cmp.Or(c.Total, DefaultConnections), cmp.Or(c.PerAddress, DefaultConnectionsPerAddress)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return &limitListener{Listener: l, limits: c, from: map[netip.Addr]int{}}
}

type limitListener struct {
	net.Listener
	limits Connections

	mu      sync.Mutex
	open    int
	from    map[netip.Addr]int // of open, by source
	refused int                // since the last line in the log
	told    time.Time          // when that was
}

// Accept waits for the next connection that there is room for.
func (l *limitListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		remote, _ := netip.ParseAddrPort(conn.RemoteAddr().String()) // a Unix socket has none: all of those are one source
		from := callwright.Source(remote.Addr())
		if l.take(from) {
			return &limitedConn{Conn: conn, release: sync.OnceFunc(func() { l.release(from) })}, nil
		}
		_ = conn.Close()
	}
}

// take counts a connection. It reports whether there is room for it, and logs that there is none.
func (l *limitListener) take(from netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open < l.limits.Total && l.from[from] < l.limits.PerAddress {
		l.open++
		l.from[from]++
		return true
	}
	l.refused++
	if now := time.Now(); now.Sub(l.told) >= time.Minute {
		l.limits.Logger.Warn("HTTP connections are refused, because too many are open", "refused", l.refused, "last_from", from,
			"open", l.open, "limit", l.limits.Total, "limit_per_address", l.limits.PerAddress)
		l.refused, l.told = 0, now
	}
	return false
}

func (l *limitListener) release(from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.from[from]--; l.from[from] == 0 {
		delete(l.from, from)
	}
}

// limitedConn leaves its listener's count when it closes.
type limitedConn struct {
	net.Conn
	release func()
}

// Close closes the connection.
func (c *limitedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// CloseWrite ends what is sent, so that a client which still sends reads its answer before the connection is closed.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
