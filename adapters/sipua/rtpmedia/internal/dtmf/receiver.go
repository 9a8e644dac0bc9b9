package dtmf

import "encoding/binary"

// maxDuration is the maximum of the duration field. A longer event continues under a new timestamp, which lies by
// just this much after the old one (RFC 4733, 2.5.1.3).
const maxDuration = 0xffff

// near is the largest distance in packets between two packets of a press, when packets are lost. Between two presses
// there are more: the copies of the end and the beginning.
const near = 3

// Header holds the relevant fields of an event packet's RTP header.
type Header struct {
	SSRC, Timestamp uint32
	Sequence        uint16
	Marker          bool
}

// Receiver turns event packets into digits: one for each press, at the first packet of it that arrives, whichever that is. An
// event is known by its source, its timestamp and its code, so it does not matter which of its packets are lost, doubled or
// out of order; neither the marker nor the end bit is needed.
//
// Old gateways break that rule in three ways, which are told apart from a second press. Some let the timestamp grow during a
// press: each packet reaches back to the event so far. Some end a press under another timestamp: at once, without a marker.
// Some press the same digit again under the same timestamp: after the end comes a packet that is not the end. The zero value
// is ready.
type Receiver struct {
	recent [8]event // a late packet of an event before the last one must not start it again
	next   int
}

type event struct {
	ssrc      uint32
	timestamp uint32 // of the first packet that came
	code      byte
	known     bool
	ended     bool
	marker    bool
	sequence  uint16 // the highest
	duration  uint32 // the longest that a packet gave
	covered   uint32 // from timestamp to the end of the tone that the packets describe
}

// Packet takes a telephone-event packet and gives the digit that begins with it, if one does. Events other than DTMF, such as
// flash or a fax tone, give none.
func (r *Receiver) Packet(h Header, payload []byte) (digit byte, begins bool) {
	if len(payload) < 4 || int(payload[0]) >= len(alphabet) {
		return 0, false
	}
	e := event{ssrc: h.SSRC, timestamp: h.Timestamp, code: payload[0], known: true, marker: h.Marker, sequence: h.Sequence}
	e.ended, e.duration = payload[1]&endBit != 0, uint32(binary.BigEndian.Uint16(payload[2:]))
	e.covered = e.duration
	goesOn := r.continues(e)
	for back := range r.recent { // the latest first
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

// continues reports whether e continues with the latest press under another source, as when the peer's media changes while a key is
// down: the numbers are unrelated then, but the duration has grown.
func (r *Receiver) continues(e event) bool {
	k := &r.recent[(r.next+len(r.recent)-1)%len(r.recent)]
	return k.known && k.ssrc != e.ssrc && k.code == e.code && !k.ended && !e.marker && e.duration > k.duration
}

// after returns the number of packets between e and the last packet of k.
func (k *event) after(e event) int16 { return int16(e.sequence - k.sequence) }

// again reports whether e presses the key of k again under the same timestamp.
func (k *event) again(e event) bool {
	return k.known && k.ssrc == e.ssrc && k.code == e.code && k.timestamp == e.timestamp && k.ended && k.after(e) > 0 &&
		(!e.ended || e.marker)
}

// includes reports whether e is a packet of the press k. Source and code are the same.
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
	case follows && uint32(ahead) <= k.covered+near*e.duration: // packets between them are missing
		return true
	default:
		return uint32(ahead) <= max(k.covered, e.duration) || ahead == maxDuration
	}
}

// extend adds a packet.
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
