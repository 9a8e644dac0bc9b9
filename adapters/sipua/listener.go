package sipua

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	handshakeTimeout = 5 * time.Second  // for a connection to become a TLS connection
	firstMessage     = 10 * time.Second // for its first message, after that
	maxIdle          = 15 * time.Minute // without a message, a keep-alive or a call
	callBytes        = 20 << 10         // for each INVITE that may come, what may be read of a connection: a call has about 8 KB
)

// listener is a TLS listener whose Accept gives finished connections only. sipgo reads each accepted connection in a
// goroutine without a deadline, so a silent one must not get that far, nor stay.
type listener struct {
	tcp    net.Listener
	config *tls.Config
	limits limits
	ready  chan net.Conn

	mu     sync.Mutex
	open   map[netip.AddrPort]*counted // also those that still shake hands
	from   map[netip.Addr]int          // how many of open, by source
	closed bool

	ctx    context.Context //nolint:containedctx // ends the handshakes when the listener closes
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// limits bound the connections that others open.
type limits struct {
	total, perAddress int
	read              int                       // bytes a second of a connection, and at once
	first, idle       time.Duration             // see firstMessage and maxIdle
	barred            func(netip.Addr) bool     // those get no connection
	busy              func(netip.AddrPort) bool // that connection carries a call
}

func listen(address string, config *tls.Config, l limits) (*listener, error) {
	var lc net.ListenConfig
	tcp, err := lc.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	ln := &listener{
		tcp: tcp, config: config, limits: l, ready: make(chan net.Conn),
		open: map[netip.AddrPort]*counted{}, from: map[netip.Addr]int{},
	}
	ln.ctx, ln.cancel = context.WithCancel(context.Background())
	ln.wg.Go(ln.run)
	return ln, nil
}

func (l *listener) run() {
	for {
		conn, err := l.tcp.Accept()
		if err != nil {
			if l.ctx.Err() != nil {
				return
			}
			select { // out of descriptors, most likely: let some go
			case <-time.After(50 * time.Millisecond):
			case <-l.ctx.Done():
			}
			continue
		}
		if c := l.admit(conn); c != nil {
			l.wg.Go(func() { l.shake(c) })
		} else {
			_ = conn.Close()
		}
	}
}

// admit counts a connection, unless there are too many.
func (l *listener) admit(conn net.Conn) *counted {
	remote, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil || l.limits.barred(remote.Addr()) {
		return nil
	}
	source := sourceOf(remote.Addr())
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.open) >= l.limits.total || l.from[source] >= l.limits.perAddress {
		return nil
	}
	c := &counted{
		Conn: tls.Server(conn, l.config), listener: l, remote: remote, pace: rate.NewLimiter(rate.Limit(l.limits.read), l.limits.read),
	}
	l.open[remote] = c
	l.from[source]++
	return c
}

func (l *listener) release(c *counted) {
	source := sourceOf(c.remote.Addr())
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c.remote)
	if l.from[source]--; l.from[source] == 0 {
		delete(l.from, source)
	}
}

// shake makes the connection a TLS one in time, or drops it.
func (l *listener) shake(c *counted) {
	ctx, cancel := context.WithTimeout(l.ctx, handshakeTimeout)
	defer cancel()
	if c.HandshakeContext(ctx) != nil {
		_ = c.Close()
		return
	}
	c.until = time.Now().Add(l.limits.first)
	select {
	case l.ready <- c:
	case <-l.ctx.Done():
		_ = c.Close()
	}
}

// Accept gives the next connection whose handshake is done.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.ready:
		return conn, nil
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Addr is where it listens.
func (l *listener) Addr() net.Addr { return l.tcp.Addr() }

// heard says that a whole message has come over a connection: it is one of SIP, and stays for a while.
func (l *listener) heard(remote netip.AddrPort) {
	l.mu.Lock()
	c := l.open[remote]
	l.mu.Unlock()
	if c != nil {
		c.live()
	}
}

// drop closes a connection.
func (l *listener) drop(remote netip.AddrPort) {
	l.mu.Lock()
	c := l.open[remote]
	l.mu.Unlock()
	if c != nil {
		_ = c.NetConn().Close() // whoever reads it does the rest
	}
}

// Close ends the listener and every connection of it.
func (l *listener) Close() error {
	l.cancel()
	err := l.tcp.Close()
	l.mu.Lock()
	l.closed = true
	conns := make([]*counted, 0, len(l.open))
	for _, c := range l.open {
		conns = append(conns, c)
	}
	l.mu.Unlock()
	for _, c := range conns {
		_ = c.NetConn().Close()
	}
	l.wg.Wait()
	return err
}

// counted is a connection that leaves its listener's count when it closes, and that does not stay for nothing.
type counted struct {
	*tls.Conn
	listener *listener
	remote   netip.AddrPort
	pace     *rate.Limiter
	once     sync.Once

	mu    sync.Mutex
	until time.Time // closed then, unless something is heard
	known bool      // something was
}

// live gives a connection that speaks SIP more time.
func (c *counted) live() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until, c.known = time.Now().Add(c.listener.limits.idle), true
}

func (c *counted) deadline() (until time.Time, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.until, c.known
}

// Read waits for as long as the connection may be silent. A keep-alive (RFC 5626, 3.5.1) ends the silence of one that
// is known to speak SIP; a part of a message does not.
func (c *counted) Read(b []byte) (int, error) {
	for {
		until, known := c.deadline()
		if err := c.SetReadDeadline(until); err != nil {
			return 0, err
		}
		n, err := c.Conn.Read(b)
		if n > 0 {
			if known && len(bytes.Trim(b[:n], "\r\n")) == 0 {
				c.live()
			}
			return n, c.pace.WaitN(c.listener.ctx, min(n, c.pace.Burst()))
		}
		later, known := c.deadline()
		switch {
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return n, err
		case later.After(until): // heard meanwhile
		case known && c.listener.limits.busy(c.remote):
			c.live()
		default:
			return n, err
		}
	}
}

// Close ends the connection.
func (c *counted) Close() error {
	c.once.Do(func() { c.listener.release(c) })
	return c.Conn.Close()
}
