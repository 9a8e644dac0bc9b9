package dtmf

import "encoding/binary"

// maxDuration is what the field for it can say. An event that lasts longer goes on under a new timestamp, which lies by
// just this much after the old one (RFC 4733, 2.5.1.3).
const maxDuration = 0xffff

// Receiver turns event packets into digits: one for each event, at the first packet of it that arrives, whichever that
// is. An event is known by its source, its timestamp and its code, so it does not matter which of its packets are lost,
// doubled or out of order; neither the marker nor the end bit is needed. The zero value is ready.
type Receiver struct {
	recent [8]event // a late packet of an event before the last one must not start it again
	next   int
}

type event struct {
	ssrc, timestamp uint32
	code            byte
	known, ended    bool
	duration        uint16
}

// Packet takes the payload of a telephone-event packet and gives the digit that begins with it, if one does. Events
// other than DTMF, such as flash or a fax tone, give none.
func (r *Receiver) Packet(ssrc, timestamp uint32, payload []byte) (digit byte, begins bool) {
	if len(payload) < 4 || int(payload[0]) >= len(alphabet) {
		return 0, false
	}
	e := event{ssrc: ssrc, timestamp: timestamp, code: payload[0], known: true}
	e.ended, e.duration = payload[1]&endBit != 0, binary.BigEndian.Uint16(payload[2:])
	for i := range r.recent {
		if known := &r.recent[i]; known.same(e) {
			known.ended = known.ended || e.ended
			known.duration = max(known.duration, e.duration)
			return 0, false
		}
	}
	continued := r.continues(e)
	r.recent[r.next] = e
	r.next = (r.next + 1) % len(r.recent)
	return alphabet[e.code], !continued
}

func (e event) same(o event) bool {
	return e.known && e.ssrc == o.ssrc && e.timestamp == o.timestamp && e.code == o.code
}

// continues reports whether e is a further segment of an event that is going on.
func (r *Receiver) continues(e event) bool {
	for _, k := range r.recent {
		if k.known && !k.ended && k.ssrc == e.ssrc && k.code == e.code && k.timestamp+maxDuration == e.timestamp {
			return true
		}
	}
	return false
}
