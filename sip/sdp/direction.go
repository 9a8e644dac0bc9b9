package sdp

// Direction is the direction of audio, from the point of view of the side whose description states it. The zero value is SendRecv, the
// default in SDP.
type Direction uint8

// The directions (RFC 8866, section 6.7).
const (
	SendRecv Direction = iota
	SendOnly
	RecvOnly
	Inactive
)

var directionNames = [...]string{SendRecv: "sendrecv", SendOnly: "sendonly", RecvOnly: "recvonly", Inactive: "inactive"}

// String returns the name of the SDP attribute, such as "sendonly", or "invalid".
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

// Reverse returns the direction from the point of view of the other side.
func (d Direction) Reverse() Direction { return direction(d.CanReceive(), d.CanSend()) }

// And returns the direction that both d and o allow. Both must be from the point of view of the same side.
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

// answerDirection returns the direction of our answer (RFC 3264, section 6.1): the reverse of the offered direction, without receiving if
// we hold the peer.
func answerDirection(offered Direction, hold bool) Direction {
	d := offered.Reverse()
	if hold {
		d = d.And(SendOnly)
	}
	return d
}

// offerDirection returns the direction of our offer (RFC 3264, section 8.4). With a hold it is sendonly, or inactive if the peer holds us.
// Without a hold it is sendrecv; the answer then shows whether the peer still holds us.
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
