// Package dtmf is the two sides of RFC 4733's telephone-events: a Receiver, which finds the digits in the packets that
// come, and a Sequence, which produces the packets of digits one by one. Neither uses sockets, time or RTP headers.
package dtmf

import "strings"

// alphabet is the digits in the order of their event codes (RFC 4733, 3.2).
const alphabet = "0123456789*#ABCD"

// Pause stands in a Sequence for half a second without a tone.
const Pause = 'w'

// code returns the event code of a digit.
func code(digit byte) (byte, bool) {
	i := strings.IndexByte(alphabet, digit)
	return byte(i), i >= 0
}
