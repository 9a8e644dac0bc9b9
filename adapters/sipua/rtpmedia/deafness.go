package rtpmedia

import (
	"fmt"
	"time"

	"github.com/callwright/callwright/sip"
)

// The minimum duration and number of packets of undecodable audio that is a fault. The number assumes packets of 100 ms, which is longer
// than usual, because a codec sends fewer packets in pauses.
const (
	deafAfter   = 3 * time.Second
	deafPackets = int(deafAfter / (100 * time.Millisecond))
)

// comfortNoise is the payload type of comfort noise, which a sender uses in pauses (RFC 3389). It is not undecodable audio.
const comfortNoise = 13

// undecodableDetector detects that the audio of a peer arrives but cannot be decoded. The zero value is ready to use.
type undecodableDetector struct {
	since   time.Duration // when the first of the counted packets arrived
	packets int           // undecodable packets since the last decoded one
	fault   string        // empty until a fault is detected
	told    bool

	decoded, refused uint64 // the player's totals at the previous call of played
}

// miss counts a packet that cannot be decoded, unless it is comfort noise. It sets fault if the minimum duration and number are reached.
func (d *undecodableDetector) miss(now time.Duration, payload uint8) {
	if payload == comfortNoise {
		return
	}
	if d.packets == 0 {
		d.since = now
	}
	d.packets++
	if d.fault == "" && d.packets >= deafPackets && now-d.since >= deafAfter {
		d.fault = fmt.Sprintf("%s: for %s the audio of payload type %d could not be decoded", sip.FaultUndecodable, deafAfter, payload)
	}
}

// played compares the player's total numbers of decoded and undecodable packets with the totals at the previous call of played. If a packet
// was decoded since then, it resets the count of undecodable packets. Otherwise, if a packet was undecodable, it calls miss once. payload
// is the type of the last audio packet.
func (d *undecodableDetector) played(now time.Duration, payload uint8, decoded, refused uint64) {
	switch {
	case decoded > d.decoded:
		d.packets = 0
	case refused > d.refused:
		d.miss(now, payload)
	}
	d.decoded, d.refused = decoded, refused
}

// tell returns the fault, and whether this call is the first that returns it.
func (d *undecodableDetector) tell() (fault string, fresh bool) {
	if d.fault == "" || d.told {
		return d.fault, false
	}
	d.told = true
	return d.fault, true
}
