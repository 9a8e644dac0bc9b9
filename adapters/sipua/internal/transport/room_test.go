package transport_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua/internal/transport"
	"github.com/callwright/callwright/adapters/testca"
)

// house is a listener that accepts twenty connections, two of which are reserved for known sources.
type house struct {
	t     *testing.T
	ln    *transport.Listener
	trust *tls.Config

	mu    sync.Mutex
	known map[netip.Addr]bool
}

func newHouse(t *testing.T) *house {
	t.Helper()
	ca, err := testca.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	h := &house{
		t: t, known: map[netip.Addr]bool{},
		trust: &tls.Config{RootCAs: ca.Pool(), ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12},
	}
	h.ln, err = transport.Listen("127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, transport.Limits{
		Total: 20, PerSource: 20, ReadRate: 1 << 20, First: time.Hour, Idle: time.Hour, Busy: never, Blocked: nobody,
		Known: func(a netip.Addr) bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.known[a]
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.ln.Close() })
	return h
}

func (h *house) admitted(source string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known[netip.MustParseAddr(source)] = true
}

// knock opens a connection without a TLS handshake, and waits until the listener has counted it.
func (h *house) knock(source string) net.Conn {
	h.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
	conn, err := d.DialContext(h.t.Context(), "tcp", h.ln.Addr().String())
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = conn.Close() })
	eventually(h.t, "the connection is counted", func() bool { return h.ln.Counted(remote(local{conn})) })
	return conn
}

// enter opens a connection and finishes its handshake. If touched is set, the listener records a valid request on it.
func (h *house) enter(source string, touched bool) net.Conn {
	h.t.Helper()
	conn := tls.Client(h.knock(source), h.trust)
	if err := conn.HandshakeContext(h.t.Context()); err != nil {
		h.t.Fatalf("from %s: %v", source, err)
	}
	server, err := h.ln.Accept()
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = server.Close() })
	if touched {
		h.ln.Touch(remote(server))
	}
	return conn
}

// local is a connection that returns its local address as the remote one, because the listener identifies a connection by that address.
type local struct{ net.Conn }

func (l local) RemoteAddr() net.Addr { return l.LocalAddr() }

// gone checks that the listener has closed the first connection, and none of the others.
func (h *house) gone(which net.Conn, others ...net.Conn) {
	h.t.Helper()
	_ = which.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.ReadAll(which); isTimeout(err) {
		h.t.Error("it is not closed")
	}
	for i, conn := range others {
		if !h.ln.Counted(remote(local{conn})) {
			h.t.Errorf("connection %d is closed, too", i)
		}
	}
}

// TestNewcomersGetIn checks that a new connection is accepted when the listener is full. The listener must close connections in this order:
// the oldest unfinished handshake, connections without a request, idle connections of strangers.
func TestNewcomersGetIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	talking := []net.Conn{h.enter("127.0.0.2", true), h.enter("127.0.0.2", true)}
	silent := h.enter("127.0.0.3", false)
	var shaking []net.Conn
	for range 15 {
		shaking = append(shaking, h.knock("127.0.0.4"))
	}
	newcomers := []net.Conn{h.enter("127.0.0.5", true)}
	h.gone(shaking[0], append(shaking[1:], silent, talking[0], talking[1])...)
	for range 14 {
		newcomers = append(newcomers, h.enter("127.0.0.6", true))
	}
	h.gone(shaking[14], silent, talking[0], talking[1])
	newcomers = append(newcomers, h.enter("127.0.0.7", true))
	h.gone(silent, append(newcomers, talking...)...)
	h.ln.Touch(remote(local{talking[0]})) // makes talking[1] the least recently used one
	newcomers = append(newcomers, h.enter("127.0.0.8", true))
	h.gone(talking[1], append(newcomers, talking[0])...)
}

// TestKnownSourcesHaveAReserve checks that connections of known sources are never closed in favor of others, and that strangers cannot use
// the reserve.
func TestKnownSourcesHaveAReserve(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	carrier := h.enter("127.0.0.2", true)
	h.admitted("127.0.0.2")
	var strangers []net.Conn
	for range 19 {
		strangers = append(strangers, h.enter("127.0.0.3", true))
	}
	h.gone(strangers[0], append(strangers[1:], carrier)...)
	known := []net.Conn{carrier, h.enter("127.0.0.2", false)} // closes no stranger's connection
	for _, conn := range strangers[1:] {
		if !h.ln.Counted(remote(local{conn})) {
			t.Error("a stranger is closed although the reserve is free")
		}
	}
	for range 18 {
		known = append(known, h.enter("127.0.0.2", false))
	}
	h.gone(strangers[18], known...)
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.9")}}
	conn, err := d.DialContext(t.Context(), "tcp", h.ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := conn.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("a stranger comes in where only known sources are: %v", err)
	}
	if !h.ln.Counted(remote(local{carrier})) {
		t.Error("a known source's connection is closed")
	}
}
