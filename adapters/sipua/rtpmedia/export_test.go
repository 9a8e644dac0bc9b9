package rtpmedia

import (
	"net/netip"
	"slices"
	"time"

	"github.com/callwright/callwright/sip"
)

// Conn is conn, for networks of tests.
type Conn = conn

// NewOn is New on another network than the machine's.
func NewOn(cfg Config, listen func(netip.AddrPort) (Conn, error)) (*Media, error) {
	m, err := New(cfg)
	if err == nil {
		m.ports.listen = func(port uint16) (conn, error) { return listen(netip.AddrPortFrom(m.cfg.IP, port)) }
	}
	return m, err
}

// Unpaced keeps a session's pacer from starting, for tests that call Tick.
func Unpaced(s sip.MediaSession) { s.(*session).paced = true }

// Inject gives a session a datagram as if it had come to its RTP port (0) or RTCP port (1).
func Inject(s sip.MediaSession, port int, datagram []byte, from netip.AddrPort) {
	own := s.(*session)
	if port == 0 {
		own.receiveRTP(own.now(), datagram, from)
	} else {
		own.receiveRTCP(own.now(), datagram, from)
	}
}

// Tick plays a session's frame n, gives the RTP packet and sends nothing.
func Tick(s sip.MediaSession, now time.Duration, n int64) []byte {
	return slices.Concat(s.(*session).tick(now, n).rtp...)
}

// Transmit is Tick, and sends.
func Transmit(s sip.MediaSession, now time.Duration, n int64) {
	own := s.(*session)
	own.transmit(own.tick(now, n))
}

// Schedule is schedule.
type Schedule = schedule

// NewSchedule begins at start.
func NewSchedule(start time.Duration) *Schedule { return &schedule{start: start} }

// Due is due.
func (s *schedule) Due(now time.Duration) (first, count, late int64) { return s.due(now) }

// Wait is wait.
func (s *schedule) Wait(now time.Duration) time.Duration { return s.wait(now) }

// InjectAt is Inject to the RTP port at a time of the test's own.
func InjectAt(s sip.MediaSession, now time.Duration, datagram []byte, from netip.AddrPort) {
	s.(*session).receiveRTP(now, datagram, from)
}

// Remote returns where a session sends to.
func Remote(s sip.MediaSession) netip.AddrPort {
	own := s.(*session)
	own.mu.Lock()
	defer own.mu.Unlock()
	return own.in.actual.rtp
}

// Packets is Tick, and gives the number of RTP packets.
func Packets(s sip.MediaSession, now time.Duration, n int64) int {
	return len(s.(*session).tick(now, n).rtp)
}
