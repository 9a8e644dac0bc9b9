package rtpmedia

import (
	crand "crypto/rand"
	"encoding/base64"
	"math/rand/v2"
	"time"

	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/report"
)

// control holds the time of the next RTCP packet and the results of the peer's reports. The session's mutex guards it.
type control struct {
	next      time.Duration
	roundTrip time.Duration
	peerLost  float64
}

// hear stores a peer's report on our media.
func (c *control) hear(h report.Heard) {
	if h.RoundTrip > 0 {
		c.roundTrip = h.RoundTrip
	}
	if h.Reported {
		c.peerLost = h.Lost
	}
}

// newCNAME returns a random name for one call, so that it does not link two calls (RFC 7022, 4.2).
func newCNAME() string {
	var b [12]byte
	_, _ = crand.Read(b[:])
	return base64.StdEncoding.EncodeToString(b[:])
}

// random returns a number from 0 up to 1, which spreads the reports of many sessions.
func random() float64 { return rand.Float64() } //nolint:gosec // it need not be hard to guess

// ntp returns the wall clock time at now. It follows the monotonic clock, so that round trips survive a step of the wall
// clock.
func (s *session) ntp(now time.Duration) uint64 { return report.NTP(s.wall.Add(now)) }

// reportDue returns the sealed report for now, nil when none is due. Reports continue while a call is held.
func (s *session) reportDue(now time.Duration) []byte {
	if now < s.control.next {
		return nil
	}
	s.control.next = now + report.Interval(random(), false)
	return s.compound(now, false)
}

// goodbye returns the last report, none if nothing was sent before (RFC 3550, 6.3.7).
func (s *session) goodbye(now time.Duration) outgoing {
	if s.out.packets == 0 {
		return outgoing{}
	}
	return outgoing{rtcp: s.compound(now, true), toRTCP: s.in.actual.rtcp}
}

// compound makes and seals a report. SRTCP is mandatory: a report that cannot be sealed is not sent.
func (s *session) compound(now time.Duration, bye bool) []byte {
	plain, err := s.in.stats.Compound(now, report.Sent{
		SSRC: s.out.ssrc, CNAME: s.cname, Packets: s.out.packets, Octets: s.out.octets,
		NTP: s.ntp(now), Timestamp: s.out.timestamp, Active: s.out.active(),
	}, bye)
	if err == nil {
		plain, err = s.out.sealer.RTCP(plain)
	}
	if err != nil {
		s.log.Error("an RTCP report could not be made", "error", err)
		return nil
	}
	return plain
}
