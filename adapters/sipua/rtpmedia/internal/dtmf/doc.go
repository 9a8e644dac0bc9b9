// Package dtmf implements both directions of telephone-events (RFC 4733). A Receiver finds the digits in received packets, and a Sequence
// produces the payloads for digits. Neither uses sockets or clocks, nor parses RTP headers.
package dtmf

import "strings"

// alphabet contains the digits in the order of their event codes (RFC 4733, 3.2).
const alphabet = "0123456789*#ABCD"

// Pause is the character for half a second without a tone in the digits of a Sequence.
const Pause = 'w'

// code returns the event code of a digit, or false for any other character.
func code(digit byte) (byte, bool) {
	i := strings.IndexByte(alphabet, digit)
	return byte(i), i >= 0
}
