package sipua

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
	"time"
)

// handshakeTimeout is how long a connection may take to become a TLS connection.
const handshakeTimeout = 5 * time.Second

// listener is a TLS listener whose Accept gives finished connections only. sipgo reads each accepted connection in a
// goroutine without a deadline, so a silent one must not get that far.
type listener struct {
	tcp    net.Listener
	config *tls.Config
	limits limits
	ready  chan net.Conn

	mu     sync.Mutex
	open   map[net.Conn]netip.Addr // also those that still shake hands
	closed bool

	ctx    context.Context //nolint:containedctx // ends the handshakes when the listener closes
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// limits bound the connections that others open.
type limits struct{ total, perAddress int }

func listen(address string, config *tls.Config, l limits) (*listener, error) {
	var lc net.ListenConfig
	tcp, err := lc.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	ln := &listener{tcp: tcp, config: config, limits: l, ready: make(chan net.Conn), open: make(map[net.Conn]netip.Addr)}
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
		if !l.admit(conn) {
			_ = conn.Close()
			continue
		}
		l.wg.Go(func() { l.shake(conn) })
	}
}

// admit counts a connection, unless there are too many.
func (l *listener) admit(conn net.Conn) bool {
	address := addressOf(conn.RemoteAddr())
	l.mu.Lock()
	defer l.mu.Unlock()
	same := 0
	for _, a := range l.open {
		if a == address {
			same++
		}
	}
	if l.closed || len(l.open) >= l.limits.total || same >= l.limits.perAddress {
		return false
	}
	l.open[conn] = address
	return true
}

func (l *listener) release(conn net.Conn) {
	l.mu.Lock()
	delete(l.open, conn)
	l.mu.Unlock()
}

// shake makes the connection a TLS one in time, or drops it.
func (l *listener) shake(conn net.Conn) {
	ctx, cancel := context.WithTimeout(l.ctx, handshakeTimeout)
	defer cancel()
	secure := &counted{Conn: tls.Server(conn, l.config), raw: conn, listener: l}
	if secure.HandshakeContext(ctx) != nil {
		_ = secure.Close()
		return
	}
	select {
	case l.ready <- secure:
	case <-l.ctx.Done():
		_ = secure.Close()
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

// Close ends the listener and every connection of it.
func (l *listener) Close() error {
	l.cancel()
	err := l.tcp.Close()
	l.mu.Lock()
	l.closed = true
	conns := make([]net.Conn, 0, len(l.open))
	for conn := range l.open {
		conns = append(conns, conn)
	}
	l.mu.Unlock()
	for _, conn := range conns {
		_ = conn.Close()
	}
	l.wg.Wait()
	return err
}

// counted is a connection that leaves its listener's count when it closes.
type counted struct {
	*tls.Conn
	raw      net.Conn
	listener *listener
	once     sync.Once
}

// Close ends the connection.
func (c *counted) Close() error {
	c.once.Do(func() { c.listener.release(c.raw) })
	return c.Conn.Close()
}

func addressOf(a net.Addr) netip.Addr {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap()
}
