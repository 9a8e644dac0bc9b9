package transport

import (
	"bytes"
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/callwright/callwright"
)

// handshakeTimeout is the maximum duration of the TLS handshake of an accepted connection.
const handshakeTimeout = 5 * time.Second

// Listener is a TLS listener whose Accept returns connections after their handshake. It closes silent connections itself, because sipgo
// reads each accepted connection in a goroutine without a deadline.
type Listener struct {
	tcp    net.Listener
	config *tls.Config
	limits Limits
	ready  chan net.Conn

	mu     sync.Mutex
	open   map[netip.AddrPort]*accepted // includes connections during their handshake
	ranks  [ranks]list.List             // the open connections by rank, the least recently used first
	from   map[netip.Addr]*origin       // shared state of the open connections, by source
	closed bool

	ctx    context.Context //nolint:containedctx // ends the handshakes when the listener closes
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// rank orders connections by how far they are trusted. If there are too many, connections of the lowest rank are closed first.
type rank int

const (
	rankHandshake rank = iota // has not finished the TLS handshake
	rankSilent                // has not sent a valid request
	rankStranger              // from a source without an admitted call
	rankKnown
	ranks
)

// origin holds the state that the connections of one source share.
type origin struct {
	open int
	pace *rate.Limiter // limits the received bytes
}

// Limits limits the connections that a Listener accepts. All fields are required.
type Limits struct {
	Total     int // maximum number of connections; a tenth is reserved for known sources
	PerSource int
	ReadRate  int                       // bytes of a source, per second and in a burst
	First     time.Duration             // maximum wait for the first message after the handshake
	Idle      time.Duration             // maximum time without a message, a keep-alive or a call
	Blocked   func(netip.Addr) bool     // reports whether connections from an address are refused
	Known     func(netip.Addr) bool     // reports whether connections from an address are never closed in favor of others
	Busy      func(netip.AddrPort) bool // reports whether a connection carries a call
}

// Listen opens a TLS listener on a TCP address such as "127.0.0.1:5061".
func Listen(address string, config *tls.Config, l Limits) (*Listener, error) {
	var lc net.ListenConfig
	tcp, err := lc.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	ln := &Listener{
		tcp: tcp, config: config, limits: l, ready: make(chan net.Conn),
		open: map[netip.AddrPort]*accepted{}, from: map[netip.Addr]*origin{},
	}
	ln.ctx, ln.cancel = context.WithCancel(context.Background())
	ln.wg.Go(ln.run)
	return ln, nil
}

func (l *Listener) run() {
	for {
		conn, err := l.tcp.Accept()
		if err != nil {
			if l.ctx.Err() != nil {
				return
			}
			select { // probably no file descriptors are left
			case <-time.After(50 * time.Millisecond):
			case <-l.ctx.Done():
			}
			continue
		}
		if c := l.admit(conn); c != nil {
			l.wg.Go(func() { l.handshake(c) })
		} else {
			_ = conn.Close()
		}
	}
}

// admit counts an accepted connection. It returns nil if there are too many connections or the source is blocked.
func (l *Listener) admit(conn net.Conn) *accepted {
	remote, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil || l.limits.Blocked(remote.Addr()) {
		return nil
	}
	from, as := callwright.Source(remote.Addr()), rankHandshake
	if l.limits.Known(remote.Addr()) {
		as = rankKnown
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	shared := l.from[from]
	if l.closed || shared != nil && shared.open >= l.limits.PerSource || !l.makeRoom(as) {
		return nil
	}
	if shared == nil {
		shared = &origin{pace: rate.NewLimiter(rate.Limit(l.limits.ReadRate), l.limits.ReadRate)}
		l.from[from] = shared
	}
	shared.open++
	c := &accepted{Conn: tls.Server(conn, l.config), listener: l, remote: remote, pace: shared.pace}
	l.open[remote] = c
	l.place(c, as)
	return c
}

// makeRoom reports whether one more connection of a rank fits into the limits. If necessary, it closes the least recently used connections
// of the lowest ranks, but none of a known source. The caller must hold the mutex.
func (l *Listener) makeRoom(as rank) bool {
	total := l.limits.Total
	for len(l.open) >= total || as != rankKnown && len(l.open)-l.ranks[rankKnown].Len() >= total-total/10 {
		c := l.last()
		switch {
		case c == nil:
			return false
		case l.limits.Known(c.remote.Addr()): // the source has become known since it opened the connection
			l.place(c, rankKnown)
		default:
			l.unlist(c)
			_ = c.NetConn().Close() // its reader then closes the accepted connection
		}
	}
	return true
}

// last returns the least recently used connection of the lowest rank below rankKnown, or nil if there is none. The caller must hold the
// mutex.
func (l *Listener) last() *accepted {
	for r := range rankKnown {
		if front := l.ranks[r].Front(); front != nil {
			return front.Value.(*accepted)
		}
	}
	return nil
}

// place sets the rank of a connection and makes it the most recently used one of that rank. The caller must hold the mutex.
func (l *Listener) place(c *accepted, r rank) {
	if c.place != nil {
		l.ranks[c.rank].Remove(c.place)
	}
	c.rank, c.place = r, l.ranks[r].PushBack(c)
}

func (l *Listener) release(c *accepted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unlist(c)
}

// unlist stops counting a connection. It does nothing if the connection is no longer counted. The caller must hold the mutex.
func (l *Listener) unlist(c *accepted) {
	if c.place == nil {
		return
	}
	l.ranks[c.rank].Remove(c.place)
	c.place = nil
	delete(l.open, c.remote)
	from := callwright.Source(c.remote.Addr())
	if shared := l.from[from]; shared != nil {
		if shared.open--; shared.open == 0 {
			delete(l.from, from)
		}
	}
}

// promote makes a connection the most recently used one of its rank, and raises its rank to the given one, or to rankKnown for a known
// source.
func (l *Listener) promote(c *accepted, to rank) {
	if l.limits.Known(c.remote.Addr()) {
		to = rankKnown
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.place != nil {
		l.place(c, max(c.rank, to))
	}
}

// handshake performs the TLS handshake of a connection, and passes the connection to Accept. It closes the connection if the handshake
// fails or takes too long.
func (l *Listener) handshake(c *accepted) {
	ctx, cancel := context.WithTimeout(l.ctx, handshakeTimeout)
	defer cancel()
	if c.HandshakeContext(ctx) != nil {
		_ = c.Close()
		return
	}
	c.until = time.Now().Add(l.limits.First)
	l.promote(c, rankSilent)
	select {
	case l.ready <- c:
	case <-l.ctx.Done():
		_ = c.Close()
	}
}

// Accept waits for the next connection that has finished its handshake. It returns net.ErrClosed after Close.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.ready:
		return conn, nil
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Addr returns the listening address.
func (l *Listener) Addr() net.Addr { return l.tcp.Addr() }

// Known reports whether a connection has sent a valid request.
func (l *Listener) Known(remote netip.AddrPort) bool {
	c := l.connection(remote)
	if c == nil {
		return false
	}
	_, known := c.deadline()
	return known
}

func (l *Listener) connection(remote netip.AddrPort) *accepted {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open[remote]
}

// framer returns the framer of a connection. It returns nil if the connection is closed, or if the connection carries no call and its
// source is blocked.
func (l *Listener) framer(_, remote net.Addr) *framer {
	addr, err := netip.ParseAddrPort(remote.String())
	if err != nil {
		return nil
	}
	c := l.connection(addr)
	if c == nil || l.limits.Blocked(addr.Addr()) && !l.limits.Busy(addr) {
		return nil
	}
	return &c.framer
}

// Touch records that a connection has sent a valid request, so that it may stay open while it is idle.
func (l *Listener) Touch(remote netip.AddrPort) {
	if c := l.connection(remote); c != nil {
		c.touch()
		l.promote(c, rankStranger)
	}
}

// Disconnect closes a connection, if it is open.
func (l *Listener) Disconnect(remote netip.AddrPort) {
	if c := l.connection(remote); c != nil {
		_ = c.NetConn().Close() // its reader then closes the accepted connection
	}
}

// Close closes the listener and its connections, and waits until its handshakes have ended.
func (l *Listener) Close() error {
	l.cancel()
	err := l.tcp.Close()
	l.mu.Lock()
	l.closed = true
	conns := make([]*accepted, 0, len(l.open))
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

// accepted is a caller's connection with an idle timeout. When it closes, its listener stops counting it.
type accepted struct {
	*tls.Conn
	listener *Listener
	remote   netip.AddrPort
	pace     *rate.Limiter
	framer   framer // used only by the reader

	// The listener's mutex guards the following fields.
	rank  rank
	place *list.Element // in the list of its rank; nil if the connection is not counted

	mu    sync.Mutex
	until time.Time // when the connection times out
	known bool      // a valid request has arrived
}

// touch marks a connection as known and extends its timeout.
func (c *accepted) touch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until, c.known = time.Now().Add(c.listener.limits.Idle), true
}

func (c *accepted) deadline() (until time.Time, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.until, c.known
}

// Read waits for bytes until the connection times out. A keep-alive (RFC 5626, 3.5.1) or a call extends the timeout of a known connection.
// A part of a message does not.
func (c *accepted) Read(b []byte) (int, error) {
	for {
		until, known := c.deadline()
		if err := c.SetReadDeadline(until); err != nil {
			return 0, err
		}
		n, err := c.Conn.Read(b)
		if n > 0 {
			if known && len(bytes.Trim(b[:n], "\r\n")) == 0 {
				c.touch()
			}
			return n, c.pace.WaitN(c.listener.ctx, min(n, c.pace.Burst()))
		}
		later, known := c.deadline()
		switch {
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return n, err
		case later.After(until): // the timeout was extended during the read
		case known && c.listener.limits.Busy(c.remote):
			c.touch()
		default:
			return n, err
		}
	}
}

// Close closes the connection, and its listener stops counting it.
func (c *accepted) Close() error {
	c.listener.release(c)
	return c.Conn.Close()
}
