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
	NTP             uint64 // now
	Timestamp       uint32 // the RTP clock now
	Active          bool   // whether audio was sent since the report before the last: then a sender report (6.4)
}

// Compound makes the packet that is due: sender or receiver report, our name and, with bye, a goodbye.
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
	RoundTrip time.Duration // 0: not reported
	Lost      float64       // share of our packets that it lost since its last report; meaningless unless Reported
	Reported  bool
	Bye       bool
}

// maxRoundTrip is the longest that is believed: a peer that fills the fields with nonsense gives hours.
const maxRoundTrip = 30 * time.Second

// Compound packets of a call hold a report, a description and perhaps a goodbye.
const maxPackets = 16

// Receive reads a peer's compound packet, which arrived at now, when the wall clock said ntp; ours is our SSRC.
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

// read takes the block about us. The round trip is now, minus the time of the report that the peer answers, minus the peer's delay
// (RFC 3550, 6.4.1).
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
