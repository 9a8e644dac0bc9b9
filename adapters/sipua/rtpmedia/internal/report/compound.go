package report

import (
	"fmt"
	"time"

	"github.com/pion/rtcp"
)

// Sent holds the contents of a sender report about our own stream.
type Sent struct {
	SSRC            uint32
	CNAME           string
	Packets, Octets uint32
	NTP             uint64 // wall clock time of the report
	Timestamp       uint32 // RTP timestamp of the same moment
	Active          bool   // audio was sent since the report before the last one; requires a sender report (RFC 3550, 6.4)
}

// Compound returns the compound packet to send at the given time: a sender or receiver report, our CNAME and, if bye is set, a BYE.
func (r *Reception) Compound(now time.Duration, s Sent, bye bool) ([]byte, error) {
	var blocks []rtcp.ReceptionReport
	if r.began {
		blocks = []rtcp.ReceptionReport{r.block(now)}
	}
	packets := make([]rtcp.Packet, 0, 3)
	if s.Active {
		packets = append(packets, &rtcp.SenderReport{
			SSRC: s.SSRC, NTPTime: s.NTP, RTPTime: s.Timestamp, PacketCount: s.Packets, OctetCount: s.Octets, Reports: blocks,
		})
	} else {
		packets = append(packets, &rtcp.ReceiverReport{SSRC: s.SSRC, Reports: blocks})
	}
	packets = append(packets, rtcp.NewCNAMESourceDescription(s.SSRC, s.CNAME))
	if bye {
		packets = append(packets, &rtcp.Goodbye{Sources: []uint32{s.SSRC}})
	}
	raw, err := rtcp.Marshal(packets)
	if err != nil {
		return nil, fmt.Errorf("make an RTCP packet: %w", err)
	}
	return raw, nil
}

// block returns our reception report, for the time since the last one (RFC 3550, A.3).
func (r *Reception) block(now time.Duration) rtcp.ReceptionReport {
	expected := r.expected() - r.expectedPrior
	received := r.received - r.receivedPrior
	r.expectedPrior, r.receivedPrior = r.expected(), r.received
	var fraction int64
	if lost := expected - received; expected > 0 && lost > 0 {
		fraction = min(lost<<8/expected, 255)
	}
	b := rtcp.ReceptionReport{
		SSRC: r.ssrc, FractionLost: uint8(fraction), TotalLost: uint32(min(max(r.expected()-r.received, 0), 0x7fffff)),
		LastSequenceNumber: uint32(r.highest), Jitter: uint32(r.jitter),
	}
	if r.haveReport {
		b.LastSenderReport = r.lastReport
		b.Delay = uint32((now - r.lastReportAt) << 16 / time.Second)
	}
	return b
}

// Heard holds a peer's report on our stream.
type Heard struct {
	RoundTrip time.Duration // 0 if the peer has not reported it
	Lost      float64       // share of our packets that were lost since the peer's last report, from 0 to 1; valid if Reported is set
	Reported  bool
	Bye       bool
}

// maxRoundTrip is the maximum round-trip time that is accepted. Invalid fields of a peer's report would result in hours.
const maxRoundTrip = 30 * time.Second

// maxPackets is the maximum number of RTCP packets that Receive reads. In a call, a compound packet contains a report, a description and at
// most one BYE.
const maxPackets = 16

// Receive reads a peer's compound packet. The parameter now is the time of its arrival, ntp is the same time of the wall clock, and ours is
// our SSRC. Receive returns an error if raw is not a valid compound packet.
func (r *Reception) Receive(now time.Duration, ntp uint64, ours uint32, raw []byte) (Heard, error) {
	var h Heard
	packets, err := rtcp.Unmarshal(raw)
	if err != nil {
		return h, fmt.Errorf("read an RTCP packet: %w", err)
	}
	for _, p := range packets[:min(len(packets), maxPackets)] {
		switch p := p.(type) {
		case *rtcp.SenderReport:
			if r.began && p.SSRC == r.ssrc {
				r.lastReport, r.lastReportAt, r.haveReport = compact(p.NTPTime), now, true
			}
			h.read(p.Reports, ours, ntp)
		case *rtcp.ReceiverReport:
			h.read(p.Reports, ours, ntp)
		case *rtcp.Goodbye:
			h.Bye = true
		}
	}
	return h, nil
}

// read stores the peer's report about our stream. The round-trip time is ntp minus the time of our report that the peer refers to, minus
// the peer's delay (RFC 3550, 6.4.1).
func (h *Heard) read(blocks []rtcp.ReceptionReport, ours uint32, ntp uint64) {
	for _, b := range blocks {
		if b.SSRC != ours {
			continue
		}
		h.Reported, h.Lost = true, float64(b.FractionLost)/256
		if b.LastSenderReport == 0 {
			continue
		}
		if d := span(compact(ntp) - b.LastSenderReport - b.Delay); d <= maxRoundTrip {
			h.RoundTrip = max(d, time.Microsecond)
		}
	}
}
