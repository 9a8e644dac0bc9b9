package rtpmedia

import (
	"net/netip"
	"slices"
	"time"

	"github.com/callwright/callwright/sip"
)

// Conn exports conn for the simulated networks of tests.
type Conn = conn

// NewOn returns a Media whose sockets are created by listen, so that tests can simulate a network.
func NewOn(cfg Config, listen func(netip.AddrPort) (Conn, error)) (*Media, error) {
	m, err := New(cfg)
	if err == nil {
		m.ports.listen = func(port uint16) (conn, error) { return listen(netip.AddrPortFrom(m.cfg.IP, port)) }
	}
	return m, err
}

// Unpaced prevents a session's pacer from starting, for tests that call Tick.
func Unpaced(s sip.MediaSession) { s.(*session).paced = true }

// Inject passes a datagram to a session as if it had arrived at its RTP port (0) or its RTCP port (1).
func Inject(s sip.MediaSession, port int, datagram []byte, from netip.AddrPort) {
	own := s.(*session)
	if port == 0 {
		own.receiveRTP(own.now(), datagram, from)
	} else {
		own.receiveRTCP(own.now(), datagram, from)
	}
}

// Tick plays frame n of a session and returns its RTP packets, concatenated, without sending them.
func Tick(s sip.MediaSession, now time.Duration, n int64) []byte {
	return slices.Concat(s.(*session).tick(now, n).rtp...)
}

// Transmit plays a session's frame n, as Tick does, and sends the resulting packets.
func Transmit(s sip.MediaSession, now time.Duration, n int64) {
	own := s.(*session)
	own.transmit(own.tick(now, n))
}

// Schedule exports schedule to the tests.
type Schedule = schedule

// NewSchedule returns a schedule whose frame 0 is due at start.
func NewSchedule(start time.Duration) *Schedule { return &schedule{start: start} }

// Due exports due to the tests.
func (s *schedule) Due(now time.Duration) (first, count, late int64) { return s.due(now) }

// Wait exports wait to the tests.
func (s *schedule) Wait(now time.Duration) time.Duration { return s.wait(now) }

// InjectAt passes a datagram to a session as if it had arrived at the RTP port at the given time.
func InjectAt(s sip.MediaSession, now time.Duration, datagram []byte, from netip.AddrPort) {
	s.(*session).receiveRTP(now, datagram, from)
}

// Remote returns the address to which a session sends RTP.
func Remote(s sip.MediaSession) netip.AddrPort {
	own := s.(*session)
	own.mu.Lock()
	defer own.mu.Unlock()
	return own.in.actual.rtp
}

// Packets plays a session's frame n, as Tick does, and returns the number of RTP packets.
func Packets(s sip.MediaSession, now time.Duration, n int64) int {
	return len(s.(*session).tick(now, n).rtp)
}
