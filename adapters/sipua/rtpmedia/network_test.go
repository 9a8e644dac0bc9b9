package rtpmedia_test

import (
	"net"
	"net/netip"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pion/rtp"

	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/secure"
	"github.com/callwright/callwright/sip/sdp"
)

// network carries datagrams between sessions in memory, so that a whole call runs with the fake clock of synctest.
type network struct {
	mu    sync.Mutex
	conns map[netip.AddrPort]*wire
	// route returns the delays after which copies of a datagram arrive. If it returns none, the datagram is lost. If it returns two, the
	// datagram is duplicated. route may change the datagram and its addresses. If route is nil, each datagram arrives once, after 1 ms.
	route func(d *datagram) []time.Duration
	sent  []datagram // every sent datagram, if keep is set
	keep  bool
}

type datagram struct {
	from, to netip.AddrPort
	bytes    []byte
}

func (d datagram) rtp() bool { return d.to.Port()%2 == 0 }

func newNetwork() *network { return &network{conns: map[netip.AddrPort]*wire{}} }

func (n *network) listen(at netip.AddrPort) (rtpmedia.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conns[at] != nil {
		return nil, syscall.EADDRINUSE
	}
	w := &wire{net: n, at: at, inbox: make(chan datagram, 1000), closed: make(chan struct{})}
	n.conns[at] = w
	return w, nil
}

func (n *network) send(d datagram) {
	d.bytes = append([]byte(nil), d.bytes...)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.keep {
		n.sent = append(n.sent, datagram{d.from, d.to, append([]byte(nil), d.bytes...)})
	}
	delays := []time.Duration{time.Millisecond}
	if n.route != nil {
		delays = n.route(&d)
	}
	for _, delay := range delays {
		time.AfterFunc(delay, func() { n.deliver(d) })
	}
}

// deliver puts a copy of a datagram into the inbox of the socket that is bound to its destination. It drops the datagram if no such socket
// exists or the inbox is full.
func (n *network) deliver(d datagram) {
	n.mu.Lock()
	w := n.conns[d.to]
	n.mu.Unlock()
	if w == nil {
		return
	}
	select {
	case w.inbox <- datagram{d.from, d.to, append([]byte(nil), d.bytes...)}:
	default:
	}
}

// set calls change while it holds the network's mutex, so that a test can replace route during a call.
func (n *network) set(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
}

// recorded returns the datagrams that were sent to an address so far. It requires keep.
func (n *network) recorded(to netip.AddrPort) []datagram {
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []datagram
	for _, d := range n.sent {
		if d.to == to {
			found = append(found, d)
		}
	}
	return found
}

// wire is a socket of a network. It implements rtpmedia.Conn.
type wire struct {
	net    *network
	at     netip.AddrPort
	inbox  chan datagram
	closed chan struct{}
}

func (w *wire) ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error) {
	select {
	case d := <-w.inbox:
		return copy(b, d.bytes), d.from, nil
	case <-w.closed:
		return 0, netip.AddrPort{}, net.ErrClosed
	}
}

func (w *wire) WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error) {
	w.net.send(datagram{w.at, to, b})
	return len(b), nil
}

func (w *wire) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(w.at) }

func (w *wire) Close() error {
	w.net.mu.Lock()
	defer w.net.mu.Unlock()
	delete(w.net.conns, w.at)
	close(w.closed)
	return nil
}

// plain decrypts recorded datagrams with the key of their sender.
func plain(t testing.TB, recorded []datagram, key sdp.Crypto) []rtp.Packet {
	t.Helper()
	var opener secure.Opener
	if err := opener.Use(0, key); err != nil {
		t.Fatal(err)
	}
	packets := make([]rtp.Packet, len(recorded))
	for i, d := range recorded {
		raw, err := opener.RTP(0, d.bytes)
		if err == nil {
			err = packets[i].Unmarshal(raw)
		}
		if err != nil {
			t.Fatalf("packet %d: %v", i, err)
		}
	}
	return packets
}
