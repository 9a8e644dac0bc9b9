package rtpmedia

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"

	"github.com/callwright/callwright"
)

// PortRange is a range of UDP ports, including Low and High. RTP uses even ports, and RTCP the odd ports above them (RFC 3550, section 11).
// A range from 10000 to 20000 therefore suffices for 5000 calls.
type PortRange struct{ Low, High uint16 }

// conn lists the methods of *net.UDPConn that a session uses.
type conn interface {
	ReadFromUDPAddrPort(b []byte) (n int, from netip.AddrPort, err error)
	WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error)
	Close() error
}

// sockets holds the RTP socket and the RTCP socket of a call.
type sockets struct {
	port      uint16 // RTP port; RTCP uses the next one
	rtp, rtcp conn
}

func (s *sockets) close() {
	_ = s.rtp.Close()
	_ = s.rtcp.Close()
}

// pool hands out pairs of ports, first the pair that has been free the longest. Late packets of a former peer therefore reach a closed port
// for as long as possible. A later session on that port cannot decrypt them.
type pool struct {
	listen    func(port uint16) (conn, error)
	ephemeral bool

	mu   sync.Mutex
	free []uint16 // the even ports of free pairs, the longest free first
}

func newPool(ports PortRange, listen func(port uint16) (conn, error)) (*pool, error) {
	p := &pool{listen: listen, ephemeral: ports == PortRange{}}
	if p.ephemeral {
		return p, nil
	}
	for port := int(ports.Low) + int(ports.Low)%2; port < int(ports.High); port += 2 {
		if port > 0 {
			p.free = append(p.free, uint16(port))
		}
	}
	if len(p.free) == 0 {
		return nil, callwright.Invalid("ports", "must contain an even port and the odd port above it, not %d to %d", ports.Low, ports.High)
	}
	// After a restart, the peers of the previous process still send to its ports. A random order makes it unlikely that new calls use the
	// same ports.
	//nolint:gosec // it need not be hard to guess: SRTP, not the port, keeps strangers out
	rand.Shuffle(len(p.free), func(i, j int) { p.free[i], p.free[j] = p.free[j], p.free[i] })
	return p, nil
}

// claim binds the next free pair. It skips pairs that it cannot bind, for example because another program uses a port. If no pair can be
// bound, it returns the last error, or errAllTaken if no pair is free.
func (p *pool) claim() (*sockets, error) {
	if p.ephemeral {
		return p.claimEphemeral()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var failed error
	for range len(p.free) {
		port := p.free[0]
		p.free = p.free[1:]
		s, err := p.bind(port)
		if err == nil {
			return s, nil
		}
		failed = err
		p.free = append(p.free, port)
	}
	return nil, cmp.Or(failed, errAllTaken)
}

// errAllTaken means that the sessions use all pairs of the range.
var errAllTaken = errors.New("all ports are in use")

// claimEphemeral binds a pair of ports that the system has reported free. It makes up to 100 attempts, because the system guarantees only
// one port of a pair.
func (p *pool) claimEphemeral() (*sockets, error) {
	const attempts = 100
	var failed error
	for range attempts {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		s, err := p.bind(port)
		if err == nil {
			return s, nil
		}
		failed = err
	}
	return nil, failed
}

// freePort asks the system for a free port, and returns the even port of the pair that contains it.
func freePort() (uint16, error) {
	probe, err := net.ListenUDP("udp", nil)
	if err != nil {
		return 0, err
	}
	defer probe.Close()
	return probe.LocalAddr().(*net.UDPAddr).AddrPort().Port() &^ 1, nil
}

// bind binds an even port and the next one. If it fails, neither stays bound.
func (p *pool) bind(port uint16) (*sockets, error) {
	rtp, err := p.listen(port)
	if err != nil {
		return nil, err
	}
	rtcp, err := p.listen(port + 1)
	if err != nil {
		return nil, errors.Join(err, rtp.Close())
	}
	return &sockets{port: port, rtp: rtp, rtcp: rtcp}, nil
}

// listenUDP returns a function that binds a UDP port of the given address.
func listenUDP(ip netip.Addr) func(port uint16) (conn, error) {
	network := "udp6"
	if ip.Is4() {
		network = "udp4"
	}
	return func(port uint16) (conn, error) {
		c, err := net.ListenUDP(network, net.UDPAddrFromAddrPort(netip.AddrPortFrom(ip, port)))
		if err != nil {
			return nil, err // returning c would make a non-nil conn of a nil pointer
		}
		return c, nil
	}
}

// give returns a pair of ports to the pool. The caller must first close the sockets of the pair.
func (p *pool) give(port uint16) {
	if p.ephemeral {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, port)
}
