package dtmf

import (
	"encoding/binary"

	"github.com/callwright/callwright"
)

// The timing of a digit, in steps of 20 ms. The tone lasts 100 ms, and two copies of its last packet follow (RFC 4733, 2.5.1.4). The next
// digit begins at the earliest 60 ms after the tone. ITU-T Q.24 requires at least 40 ms of tone and of pause, and many phone menus require
// more.
const (
	toneSteps  = 5
	endCopies  = 2
	gapSteps   = 3
	pauseSteps = 25

	volume = 10 // -10 dBm0
	endBit = 0x80
)

// Packet holds the payload of an event packet.
type Packet struct {
	Payload [4]byte
	First   bool // begins an event: the packet carries the marker bit and determines the event's timestamp
}

// Sequence produces the packets of a series of digits, in steps of 20 ms. It is not safe for concurrent use.
type Sequence struct {
	digits []byte
	step   int    // current step of digits[0]
	ticks  uint32 // ticks of the event clock in a step
}

// NewSequence returns a sequence of digits: 0-9, A-D in either case, *, #, and w for a pause. ticks is the number of event clock ticks in
// 20 ms. NewSequence returns CodeBadRequest with the field "digits" for other characters.
func NewSequence(digits string, ticks uint32) (*Sequence, error) {
	s := &Sequence{ticks: ticks}
	for i := range len(digits) {
		d := digits[i]
		switch {
		case d == 'W':
			d = Pause
		case 'a' <= d && d <= 'd':
			d -= 'a' - 'A'
		}
		if _, ok := code(d); !ok && d != Pause {
			return nil, callwright.Invalid("digits", "must have only 0-9, A-D, *, # and w, not %q", digits[i])
		}
		s.digits = append(s.digits, d)
	}
	return s, nil
}

// Done reports whether all digits and the pause after the last one are finished.
func (s *Sequence) Done() bool { return len(s.digits) == 0 }

// Stop drops the digits that have not begun. The digit that is being sent is still completed.
func (s *Sequence) Stop() {
	keep := 0
	if s.step > 0 {
		keep = 1
	}
	s.digits = s.digits[:min(keep, len(s.digits))]
}

// Next advances the sequence by 20 ms and returns the event packet to send in that time. It returns false in pauses and after the last
// digit.
func (s *Sequence) Next() (Packet, bool) {
	if s.Done() {
		return Packet{}, false
	}
	digit, step, length := s.digits[0], s.step, toneSteps+gapSteps
	if digit == Pause {
		length = pauseSteps
	}
	if s.step++; s.step == length {
		s.digits, s.step = s.digits[1:], 0
	}
	if digit == Pause || step >= toneSteps+endCopies {
		return Packet{}, false
	}
	return s.packet(digit, step), true
}

// packet returns the event packet after step+1 steps of a digit. Steps after the tone return copies of its last packet.
func (s *Sequence) packet(digit byte, step int) Packet {
	p := Packet{First: step == 0}
	p.Payload[0], _ = code(digit)
	p.Payload[1] = volume
	if step >= toneSteps-1 {
		p.Payload[1] |= endBit
	}
	duration := uint32(min(step+1, toneSteps)) * s.ticks
	binary.BigEndian.PutUint16(p.Payload[2:], uint16(min(duration, maxDuration)))
	return p
}
