package rtpmedia

// The limits for packets to an address from which no authentic packet has arrived. Until one arrives, the address is known from the peer's
// SDP only, and may belong to a third party.
const (
	unprovenPackets = 50 // packets in a burst: a second of audio
	unprovenEvery   = 50 // frames after which one more packet may be sent
)

// allowance counts the RTP packets that are sent to unproven addresses. The whole session has one allowance, so that a new offer does not
// renew it. RTCP packets are not counted, because they are sent only about every five seconds. The zero value is an unused allowance.
type allowance struct {
	used   int // number of counted packets, at most unprovenPackets
	frames int
	spent  bool // used up since the address was last proven
}

// permit limits the packets that may be sent in a frame.
type permit uint8

const (
	permitAll     permit = iota
	permitSilence        // one packet of silence, which keeps NAT bindings open; queued audio waits
	permitNothing
)

// frame returns the permit for the next frame, which needs up to the given number of packets. proven reports whether the address is proven.
// If wanted is not set, the session sends nothing to an unproven address.
func (a *allowance) frame(proven, wanted bool, packets int) permit {
	if a.frames++; a.frames%unprovenEvery == 0 && a.used > 0 {
		a.used--
	}
	switch {
	case proven:
		a.spent = false
		return permitAll
	case !wanted:
		return permitNothing
	case a.used >= unprovenPackets:
		a.spent = true
		return permitNothing
	case a.spent || a.used+packets > unprovenPackets:
		a.spent = true
		a.used++
		return permitSilence
	}
	a.used += packets
	return permitAll
}
