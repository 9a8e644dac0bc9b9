package sdp

// Direction is which way audio flows, seen from the side whose description states it. The zero value is both ways, as in
// SDP itself.
type Direction uint8

// The four directions of RFC 8866, section 6.7.
const (
	SendRecv Direction = iota
	SendOnly
	RecvOnly
	Inactive
)

var directionNames = [...]string{SendRecv: "sendrecv", SendOnly: "sendonly", RecvOnly: "recvonly", Inactive: "inactive"}

// String is the SDP attribute's name.
func (d Direction) String() string {
	if int(d) < len(directionNames) {
		return directionNames[d]
	}
	return "invalid"
}

// CanSend reports whether the side that states d may send.
func (d Direction) CanSend() bool { return d == SendRecv || d == SendOnly }

// CanReceive reports whether the side that states d is ready to receive.
func (d Direction) CanReceive() bool { return d == SendRecv || d == RecvOnly }

// Reverse is the same flow seen from the other side.
func (d Direction) Reverse() Direction { return direction(d.CanReceive(), d.CanSend()) }

// And is what both directions allow, seen from the same side.
func (d Direction) And(o Direction) Direction {
	return direction(d.CanSend() && o.CanSend(), d.CanReceive() && o.CanReceive())
}

func direction(send, receive bool) Direction {
	switch {
	case send && receive:
		return SendRecv
	case send:
		return SendOnly
	case receive:
		return RecvOnly
	default:
		return Inactive
	}
}

// answerDirection is the direction of an answer (RFC 3264, 6.1): the offer's, mirrored, less what we withhold while we
// hold the peer.
func answerDirection(offered Direction, hold bool) Direction {
	d := offered.Reverse()
	if hold {
		d = d.And(SendOnly)
	}
	return d
}

// offerDirection is the direction of a (re-)offer (RFC 3264, 8.4): to hold, a stream that was ours to send becomes
// sendonly and one that was not (the peer holds us) becomes inactive; to resume, we offer both ways and the answer says
// what the peer still withholds.
func offerDirection(previous Direction, hold bool) Direction {
	switch {
	case !hold:
		return SendRecv
	case previous.CanSend():
		return SendOnly
	default:
		return Inactive
	}
}

func parseDirection(s string) (Direction, bool) {
	for d, name := range directionNames {
		if s == name {
			return Direction(d), true
		}
	}
	return SendRecv, false
}
