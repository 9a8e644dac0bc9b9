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

// handshakeTimeout bounds the TLS handshake of an accepted connection.
const handshakeTimeout = 5 * time.Second

// Listener is a TLS listener whose Accept returns connections that have finished their handshake. sipgo reads each accepted
// connection in a goroutine without a deadline, so the listener closes silent connections itself.
type Listener struct {
	tcp    net.Listener
	config *tls.Config
	limits Limits
	ready  chan net.Conn

	mu     sync.Mutex
	open   map[netip.AddrPort]*accepted // connections in their handshake included
	ranks  [ranks]list.List             // of open, the least recently used in front
	from   map[netip.Addr]*origin       // of open, by source
	closed bool

	ctx    context.Context //nolint:containedctx // ends the handshakes when the listener closes
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// rank orders connections by the proof that they have given. When there are too many, connections of the lowest rank are closed first.
type rank int

const (
	rankHandshake rank = iota // the TLS handshake is not finished
	rankSilent                // no valid request has come
	rankStranger              // of a source without an admitted call
	rankKnown
	ranks
)

// origin is the state that the connections of one source share.
type origin struct {
	open int
	pace *rate.Limiter // of bytes
}

// Limits bound the connections that others open.
type Limits struct {
	Total     int // a tenth of them is for known sources only
	PerSource int
	ReadRate  int                       // bytes per second of a source, and as a burst
	First     time.Duration             // until the first message, after the handshake
	Idle      time.Duration             // without a message, a keep-alive or a call
	Blocked   func(netip.Addr) bool     // reports addresses whose connections are refused
	Known     func(netip.Addr) bool     // reports addresses whose connections are never closed in favor of others
	Busy      func(netip.AddrPort) bool // reports connections that carry a call
}

// Listen opens a TLS listener on a TCP address.
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
			select { // file descriptors are exhausted, most likely
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

// admit counts a connection; nil when there are too many.
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

// makeRoom reports whether there is room for one more connection, and closes others in its favor if need be. The mutex is
// held.
func (l *Listener) makeRoom(as rank) bool {
	total := l.limits.Total
	for len(l.open) >= total || as != rankKnown && len(l.open)-l.ranks[rankKnown].Len() >= total-total/10 {
		c := l.last()
		switch {
		case c == nil:
			return false
		case l.limits.Known(c.remote.Addr()): // by now
			l.place(c, rankKnown)
		default:
			l.unlist(c)
			_ = c.NetConn().Close() // its reader does the rest
		}
	}
	return true
}

// last returns the least recently used connection of the lowest rank, if there is one below rankKnown. The mutex is held.
func (l *Listener) last() *accepted {
	for r := range rankKnown {
		if front := l.ranks[r].Front(); front != nil {
			return front.Value.(*accepted)
		}
	}
	return nil
}

// place makes a connection the most recently used one of a rank. The mutex is held.
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

// unlist takes a connection out of the count, once. The mutex is held.
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

// promote moves a used connection to its present rank.
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

// handshake finishes a connection's TLS handshake in time, or closes the connection.
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

// Accept waits for the next connection whose handshake has finished.
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

// Known reports whether a connection is known to speak SIP.
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

// framer returns the framer of a connection; nil if it is closed, or will be because its source is blocked.
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

// Touch records that a valid request has come over a connection: the connection speaks SIP and stays open while idle.
func (l *Listener) Touch(remote netip.AddrPort) {
	if c := l.connection(remote); c != nil {
		c.touch()
		l.promote(c, rankStranger)
	}
}

// Disconnect closes a connection.
func (l *Listener) Disconnect(remote netip.AddrPort) {
	if c := l.connection(remote); c != nil {
		_ = c.NetConn().Close() // its reader does the rest
	}
}

// Close closes the listener and its connections.
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

// accepted is a caller's connection. It leaves its listener's count when it closes, and times out while idle.
type accepted struct {
	*tls.Conn
	listener *Listener
	remote   netip.AddrPort
	pace     *rate.Limiter
	framer   framer // the reader's

	// The listener's mutex guards these.
	rank  rank
	place *list.Element // in the list of its rank; nil: not counted any more

	mu    sync.Mutex
	until time.Time // closed then, unless touched
	known bool      // a valid request has come
}

// touch prolongs the life of a connection that speaks SIP.
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

// Read waits until the connection times out. A keep-alive (RFC 5626, 3.5.1) prolongs the life of a connection that is known
// to speak SIP; a part of a message does not.
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
		case later.After(until): // touched meanwhile
		case known && c.listener.limits.Busy(c.remote):
			c.touch()
		default:
			return n, err
		}
	}
}

// Close closes the connection.
func (c *accepted) Close() error {
	c.listener.release(c)
	return c.Conn.Close()
}
