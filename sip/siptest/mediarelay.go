package siptest

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
)

// relay is the network between two sessions. It sees every packet, and forwards, changes or drops it.
type relay struct{ rtp, rtcp *path }

// path forwards packets between two addresses from one socket: packets from b go to a, all others to b.
type path struct {
	at   netip.AddrPort
	a, b netip.AddrPort

	mu     sync.Mutex
	change func(toB bool, n int, packet []byte) [][]byte // nil: every packet is forwarded unchanged
	seen   [2][][]byte                                   // packets to a, and to b
}

// newRelay starts a relay between two sessions. The end of the test stops it.
func newRelay(t testing.TB, m MediaSetup, a, b netip.AddrPort) *relay {
	t.Helper()
	control := func(at netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(at.Addr(), at.Port()+1) }
	return &relay{rtp: newPath(t, m, a, b), rtcp: newPath(t, m, control(a), control(b))}
}

// open opens a socket and has take read it until the end of the test.
func open(t testing.TB, m MediaSetup, take func(packet []byte, from netip.AddrPort)) Socket {
	t.Helper()
	socket, err := m.Listen()
	if err != nil {
		t.Fatalf("opening a socket: %v", err)
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		for buffer := make([]byte, 2000); ; {
			n, from, err := socket.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			take(slices.Clone(buffer[:n]), netip.AddrPortFrom(from.Addr().Unmap(), from.Port()))
		}
	})
	t.Cleanup(func() {
		_ = socket.Close()
		reading.Wait()
	})
	return socket
}

// address returns a socket's address.
func address(s Socket) netip.AddrPort {
	at := s.LocalAddr().(*net.UDPAddr).AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

func newPath(t testing.TB, m MediaSetup, a, b netip.AddrPort) *path {
	t.Helper()
	p := &path{a: a, b: b}
	ready, cancel := context.WithCancel(context.Background())
	var socket Socket
	socket = open(t, m, func(packet []byte, from netip.AddrPort) {
		<-ready.Done()
		to := p.b
		if from == p.b {
			to = p.a
		}
		for _, out := range p.relay(to == p.b, packet) {
			_, _ = socket.WriteToUDPAddrPort(out, to)
		}
	})
	p.at = address(socket)
	cancel()
	return p
}

// relay records a packet and returns the packets to send in its place.
func (p *path) relay(toB bool, packet []byte) [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	side := 0
	if toB {
		side = 1
	}
	p.seen[side] = append(p.seen[side], packet)
	if p.change == nil {
		return [][]byte{packet}
	}
	return p.change(toB, len(p.seen[side]), packet)
}

// set installs the change of later packets. change receives the direction, and the packet's number in it.
func (p *path) set(change func(toB bool, n int, packet []byte) [][]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change = change
}

// lose loses a packet.
func lose(bool, int, []byte) [][]byte { return nil }

// to returns the packets so far in one direction.
func (p *path) to(b bool) [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	side := 0
	if b {
		side = 1
	}
	return slices.Clone(p.seen[side])
}
