package rtpmedia

// Limits of packets to an address before an authentic packet has come from it. Until then only the peer's description
// names the address, which may belong to a third party.
const (
	unprovenPackets = 50 // as a burst: a second of audio
	unprovenEvery   = 50 // frames until one more may be sent
)

// allowance counts the RTP packets to addresses that the peer has named without proof. One allowance serves the whole session, so
// a new offer does not renew it. RTCP, a packet every five seconds or so, is not counted. The zero value is unused.
type allowance struct {
	used   int // at most unprovenPackets
	frames int
	spent  bool // since the last proof
}

// permit is the permission to send in a frame.
type permit uint8

const (
	permitAll     permit = iota
	permitSilence        // keeps NAT bindings open, while the queue waits
	permitNothing
)

// frame returns the permit of the next frame, of up to the given number of packets, to an address that is proven or not.
// Silence is one packet. Without wanted there is nothing to send anyway.
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
