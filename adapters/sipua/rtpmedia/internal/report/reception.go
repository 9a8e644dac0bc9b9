package report

import "time"

// Reception counts the packets that the peer sends. When the peer's SSRC changes, the totals continue and the sequence numbers begin anew.
// Call Clock on the zero value before use.
type Reception struct {
	clock int // ticks per second of the RTP clock, for the jitter

	began    bool
	ssrc     uint32
	base     int64 // first and highest extended sequence numbers of this source
	highest  int64
	received int64 // packets of this source

	transit     int64   // transit time of the last timed packet, in ticks
	haveTransit bool    // transit is set
	jitter      float64 // in ticks

	lostBefore     int64 // packets lost from former sources
	receivedBefore uint64

	expectedPrior, receivedPrior int64 // counts at the time of the last report

	lastReport   uint32 // compact NTP time of the peer's last sender report
	lastReportAt time.Duration
	haveReport   bool
}

// reordered bounds the distance, in sequence numbers, by which an early packet may precede the first packet that arrived. It equals the
// size of SRTP's replay window.
const reordered = 64

// Clock sets the rate of the RTP clock in ticks per second. A new rate resets the jitter.
func (r *Reception) Clock(rate int) {
	if rate != r.clock {
		r.clock, r.jitter, r.haveTransit = rate, 0, false
	}
}

// Packet counts an authentic packet. timed means that the timestamp is the packet's send time. It is false for telephone events, because
// all packets of an event carry the timestamp of its beginning. newest reports whether no later packet of this source has arrived before.
func (r *Reception) Packet(now time.Duration, ssrc uint32, sequence uint16, timestamp uint32, timed bool) (newest bool) {
	if !r.began || ssrc != r.ssrc {
		r.begin(ssrc, sequence)
	}
	r.received++
	ahead := int64(int16(sequence - uint16(r.highest)))
	if early := r.base - r.highest - ahead; early > 0 && early < reordered {
		r.base -= early // the first packet to arrive was not the first to be sent
	}
	r.highest += max(ahead, 0)
	if timed && r.clock > 0 {
		r.time(now, timestamp)
	}
	return ahead >= 0
}

func (r *Reception) begin(ssrc uint32, sequence uint16) {
	r.lostBefore, r.receivedBefore = r.lost(), r.Received()
	r.began, r.ssrc = true, ssrc
	r.base, r.highest, r.received = int64(sequence), int64(sequence), 0
	r.expectedPrior, r.receivedPrior = 0, 0
	r.jitter, r.haveTransit, r.haveReport = 0, false, false
}

// time updates the jitter (RFC 3550, 6.4.1): a running mean, with a gain of 1/16, of the differences between the transit times of
// consecutive packets.
func (r *Reception) time(now time.Duration, timestamp uint32) {
	arrival := uint32(now.Microseconds() * int64(r.clock) / 1e6)
	transit := int64(int32(arrival - timestamp))
	if r.haveTransit {
		d := int64(int32(uint32(transit) - uint32(r.transit)))
		r.jitter += (float64(max(d, -d)) - r.jitter) / 16
	}
	r.transit, r.haveTransit = transit, true
}

// Source returns the peer's SSRC. ok is false before the peer's first packet.
func (r *Reception) Source() (ssrc uint32, ok bool) { return r.ssrc, r.began }

// Received returns the number of packets received from all of the peer's sources.
func (r *Reception) Received() uint64 { return r.receivedBefore + uint64(r.received) }

// Lost returns the number of packets that the gaps in the sequence numbers reveal as lost, over all of the peer's sources.
func (r *Reception) Lost() uint64 { return uint64(max(r.lost(), 0)) }

func (r *Reception) lost() int64 {
	if !r.began {
		return 0
	}
	return r.lostBefore + max(r.expected()-r.received, 0)
}

func (r *Reception) expected() int64 { return r.highest - r.base + 1 }

// Jitter returns the interarrival jitter (RFC 3550, 6.4.1), or 0 before Clock is called.
func (r *Reception) Jitter() time.Duration {
	if r.clock == 0 {
		return 0
	}
	return time.Duration(r.jitter * float64(time.Second) / float64(r.clock))
}
