package dtmf

import "encoding/binary"

// maxDuration is the maximum of the duration field. A longer event continues as a new segment, whose timestamp is greater by exactly this
// number of ticks (RFC 4733, 2.5.1.3).
const maxDuration = 0xffff

// near is the maximum difference between the sequence numbers of two successive packets of a press if packets between them are lost. The
// packets of two presses are further apart, because the copies of the end lie between them.
const near = 3

// Header holds the relevant fields of an event packet's RTP header.
type Header struct {
	SSRC, Timestamp uint32
	Sequence        uint16
	Marker          bool
}

// Receiver turns event packets into digits. It reports one digit for each press, when the first packet of the press arrives. It identifies
// an event by its source, timestamp and code. Lost, duplicated and reordered packets therefore do no harm, and neither the marker bit nor
// the end bit is needed.
//
// Old gateways violate RFC 4733 in three ways, which Receiver distinguishes from a second press. Some increase the timestamp during a
// press, but each packet then overlaps or adjoins the event so far. Some end a press with another timestamp, immediately and without a
// marker bit. Some press the same key again with the same timestamp: a packet with a marker bit or without the end bit then follows the
// end. The zero value is ready to use.
type Receiver struct {
	recent [8]event // a ring, because a late packet of an earlier event must not begin it again
	next   int
}

type event struct {
	ssrc      uint32
	timestamp uint32 // of the first packet that arrived
	code      byte
	known     bool
	ended     bool
	marker    bool
	sequence  uint16 // highest sequence number
	duration  uint32 // maximum duration field of its packets, in ticks
	covered   uint32 // ticks from timestamp to the latest end of tone in its packets
}

// Packet handles a telephone-event packet. It returns the digit that begins with the packet, or false if none does. It ignores other events
// than DTMF, such as flash or fax tones.
func (r *Receiver) Packet(h Header, payload []byte) (digit byte, begins bool) {
	if len(payload) < 4 || int(payload[0]) >= len(alphabet) {
		return 0, false
	}
	e := event{ssrc: h.SSRC, timestamp: h.Timestamp, code: payload[0], known: true, marker: h.Marker, sequence: h.Sequence}
	e.ended, e.duration = payload[1]&endBit != 0, uint32(binary.BigEndian.Uint16(payload[2:]))
	e.covered = e.duration
	goesOn := r.continues(e)
	for back := range r.recent { // the latest event first
		k := &r.recent[(r.next+2*len(r.recent)-1-back)%len(r.recent)]
		if k.known && k.ssrc == e.ssrc && k.code == e.code && k.includes(e) {
			k.extend(e)
			return 0, false
		}
		if k.again(e) {
			break
		}
	}
	r.recent[r.next] = e
	r.next = (r.next + 1) % len(r.recent)
	if goesOn {
		return 0, false
	}
	return alphabet[e.code], true
}

// continues reports whether e continues the latest press with another SSRC, as happens when the peer's media changes while a key is
// pressed. The sequence numbers and timestamps are then unrelated, but the duration has grown.
func (r *Receiver) continues(e event) bool {
	k := &r.recent[(r.next+len(r.recent)-1)%len(r.recent)]
	return k.known && k.ssrc != e.ssrc && k.code == e.code && !k.ended && !e.marker && e.duration > k.duration
}

// after returns the sequence number of e minus the highest one of k. It is negative if e is late.
func (k *event) after(e event) int16 { return int16(e.sequence - k.sequence) }

// again reports whether e presses the key of k a second time with the same timestamp.
func (k *event) again(e event) bool {
	return k.known && k.ssrc == e.ssrc && k.code == e.code && k.timestamp == e.timestamp && k.ended && k.after(e) > 0 &&
		(!e.ended || e.marker)
}

// includes reports whether e is a packet of the press k. Both must have the same source and code.
func (k *event) includes(e event) bool {
	if k.timestamp == e.timestamp {
		return !k.again(e)
	}
	ahead, late, follows := int32(e.timestamp-k.timestamp), k.after(e) < 0, k.after(e) <= near
	switch {
	case late && ahead < 0:
		return uint32(-ahead) <= e.duration
	case late:
		return uint32(ahead) <= k.covered
	case e.marker:
		return false
	case e.ended && follows && e.duration >= k.duration:
		return true
	case k.ended || ahead < 0:
		return false
	case follows && uint32(ahead) <= k.covered+near*e.duration: // packets between k and e are lost
		return true
	default:
		return uint32(ahead) <= max(k.covered, e.duration) || ahead == maxDuration
	}
}

// extend adds a packet to the press k.
func (k *event) extend(e event) {
	k.ended = k.ended || e.ended
	if k.after(e) > 0 {
		k.sequence = e.sequence
	}
	k.duration = max(k.duration, e.duration)
	if ahead := int32(e.timestamp - k.timestamp); ahead >= 0 {
		k.covered = max(k.covered, uint32(ahead)+e.duration)
	}
}
