package rtpmedia

import (
	"fmt"
	"time"

	"github.com/callwright/callwright/sip"
)

// The least audio that cannot be decoded before it is a fault. Packets of at most 100 ms are taken for voice: fewer packets are
// the pauses of a codec.
const (
	deafAfter   = 3 * time.Second
	deafPackets = int(deafAfter / (100 * time.Millisecond))
)

// comfortNoise is the payload type of a sender's pauses (RFC 3389). It needs no decoder.
const comfortNoise = 13

// undecodableDetector notices a peer whose audio comes and cannot be decoded. The zero value is ready.
type undecodableDetector struct {
	since   time.Duration // when the first packet of this spell came
	packets int           // of this spell, which a decoded packet ends
	fault   string        // of the first spell that was long enough; empty: none
	told    bool

	decoded, refused uint64 // by the player so far
}

// miss notes a packet of a payload type that cannot be decoded.
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

// played records the totals of packets that the player has decoded and failed to decode. payload is the type of the last audio packet.
func (d *undecodableDetector) played(now time.Duration, payload uint8, decoded, refused uint64) {
	switch {
	case decoded > d.decoded:
		d.packets = 0
	case refused > d.refused:
		d.miss(now, payload)
	}
	d.decoded, d.refused = decoded, refused
}

// tell returns the fault, and whether it was not returned before.
func (d *undecodableDetector) tell() (fault string, fresh bool) {
	if d.fault == "" || d.told {
		return d.fault, false
	}
	d.told = true
	return d.fault, true
}
