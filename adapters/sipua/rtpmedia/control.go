package rtpmedia

import (
	crand "crypto/rand"
	"encoding/base64"
	"math/rand/v2"
	"time"

	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/report"
)

// control holds the due time of the next RTCP packet and the results of the peer's reports. The session's mutex guards it.
type control struct {
	next      time.Duration
	roundTrip time.Duration
	peerLost  float64
}

// hear stores the round-trip time and the loss that a peer's report contains.
func (c *control) hear(h report.Heard) {
	if h.RoundTrip > 0 {
		c.roundTrip = h.RoundTrip
	}
	if h.Reported {
		c.peerLost = h.Lost
	}
}

// newCNAME returns a random CNAME for one call, so that it does not link two calls (RFC 7022, 4.2).
func newCNAME() string {
	var b [12]byte
	_, _ = crand.Read(b[:])
	return base64.StdEncoding.EncodeToString(b[:])
}

// random returns a number in [0, 1), which distributes the reports of many sessions over time.
func random() float64 { return rand.Float64() } //nolint:gosec // it need not be hard to guess

// ntp converts a time of the session to the wall clock time as an NTP timestamp. The wall clock time is derived from the monotonic clock,
// so that a step of the wall clock does not affect round-trip times.
func (s *session) ntp(now time.Duration) uint64 { return report.NTP(s.wall.Add(now)) }

// reportDue returns the encrypted report that is due at the given time, and schedules the next one. It returns nil if no report is due, or
// if compound fails. Reports are also sent while a call is on hold.
func (s *session) reportDue(now time.Duration) []byte {
	if now < s.control.next {
		return nil
	}
	s.control.next = now + report.Interval(random(), false)
	return s.compound(now, false)
}

// goodbye returns the final report with a BYE. It returns no packet if the session has sent no RTP (RFC 3550, 6.3.7).
func (s *session) goodbye(now time.Duration) outgoing {
	if s.out.packets == 0 {
		return outgoing{}
	}
	return outgoing{rtcp: s.compound(now, true), toRTCP: s.in.actual.rtcp}
}

// compound creates and encrypts a report. If that fails, it logs the error and returns nil, because a report must not be sent without
// SRTCP.
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
