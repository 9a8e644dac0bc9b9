package siptest

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
)

// relay is the network between two sessions. It records every packet, and forwards, changes or drops the packet.
type relay struct{ rtp, rtcp *path }

// path forwards packets between a and b through one socket, whose address is in the field at. Packets from b are forwarded to a, all others
// to b.
type path struct {
	at   netip.AddrPort
	a, b netip.AddrPort

	mu     sync.Mutex
	change func(toB bool, n int, packet []byte) [][]byte // if nil, every packet is forwarded unchanged
	seen   [2][][]byte                                   // packets to a, and packets to b
}

// newRelay starts a relay between two sessions. The end of the test stops it.
func newRelay(t testing.TB, m MediaSetup, a, b netip.AddrPort) *relay {
	t.Helper()
	control := func(at netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(at.Addr(), at.Port()+1) }
	return &relay{rtp: newPath(t, m, a, b), rtcp: newPath(t, m, control(a), control(b))}
}

// open opens a socket. Until the end of the test, it passes each received packet to the function take.
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

// address returns a socket's local address, with an IPv4 address unmapped.
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

// relay records a packet and returns the packets to send instead.
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

// set replaces the function that changes later packets; nil forwards them unchanged. change receives the packet's direction, its number in
// that direction (from 1), and its bytes.
func (p *path) set(change func(toB bool, n int, packet []byte) [][]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change = change
}

// lose is a change that drops every packet.
func lose(bool, int, []byte) [][]byte { return nil }

// to returns the packets that the path has received so far: those for the session b if the argument is true, otherwise those for the
// session a.
func (p *path) to(b bool) [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	side := 0
	if b {
		side = 1
	}
	return slices.Clone(p.seen[side])
}
