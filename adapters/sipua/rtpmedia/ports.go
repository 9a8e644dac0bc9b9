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

// PortRange is a range of UDP ports, both ends included. RTP takes the even ones and RTCP the odd ones above them
// (RFC 3550, section 11), so 10000 to 20000 is room for 5000 calls.
type PortRange struct{ Low, High uint16 }

// conn lists the methods of *net.UDPConn that a session uses.
type conn interface {
	ReadFromUDPAddrPort(b []byte) (n int, from netip.AddrPort, err error)
	WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error)
	Close() error
}

// sockets are one call's pair.
type sockets struct {
	port      uint16 // of RTP
	rtp, rtcp conn
}

func (s *sockets) close() {
	_ = s.rtp.Close()
	_ = s.rtcp.Close()
}

// pool hands out pairs of ports. The pair that has been free the longest comes first: late packets of a former peer
// reach a closed port for as long as the range allows, and after that a session that cannot decrypt them.
type pool struct {
	listen    func(port uint16) (conn, error)
	ephemeral bool

	mu   sync.Mutex
	free []uint16 // even ports
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
	// After a restart the peers of the process before are still sending to its ports.
	//nolint:gosec // it need not be hard to guess: SRTP, not the port, keeps strangers out
	rand.Shuffle(len(p.free), func(i, j int) { p.free[i], p.free[j] = p.free[j], p.free[i] })
	return p, nil
}

// claim binds a pair. Ports that another program holds are passed over.
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

// errAllTaken means that sessions use all ports of the range.
var errAllTaken = errors.New("all ports are taken")

// claimEphemeral lets the system choose one port and tries its neighbour.
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

// freePort returns an even port next to one that the system has just reported free.
func freePort() (uint16, error) {
	probe, err := net.ListenUDP("udp", nil)
	if err != nil {
		return 0, err
	}
	defer probe.Close()
	return probe.LocalAddr().(*net.UDPAddr).AddrPort().Port() &^ 1, nil
}

// bind binds both ports or none.
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

// listenUDP binds the ports of one address.
func listenUDP(ip netip.Addr) func(port uint16) (conn, error) {
	network := "udp6"
	if ip.Is4() {
		network = "udp4"
	}
	return func(port uint16) (conn, error) {
		c, err := net.ListenUDP(network, net.UDPAddrFromAddrPort(netip.AddrPortFrom(ip, port)))
		if err != nil {
			return nil, err // not c, which would be a conn that is not nil
		}
		return c, nil
	}
}

// give returns a port, whose sockets are closed, to the pool.
func (p *pool) give(port uint16) {
	if p.ephemeral {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, port)
}
