package rtpmedia

import (
	"time"

	"github.com/callwright/callwright/sip"
)

// unread is how many frames wait for a reader that is busy. With one more the oldest is dropped: the pacer never waits.
const unread = 10

// frames are the frames that have not been read. Their buffers go round: between the ring and the reader nothing is
// copied or allocated.
type frames struct {
	ring    [unread]frame
	first   int
	count   int
	reading frame // what the reader has been given; its buffers come back with the next pop
}

type frame struct {
	in, out []int16
	played  bool // out is what was played; else silence was
	digit   byte
	held    bool
	elapsed time.Duration
}

// add makes room for a frame and returns it to be filled; its buffers are empty. If another had to give way, its digit
// is given back.
func (f *frames) add() (slot *frame, dropped bool, digit byte) {
	if f.count == unread {
		dropped, digit = true, f.ring[f.first].digit
		f.first = (f.first + 1) % unread
		f.count--
	}
	slot = &f.ring[(f.first+f.count)%unread]
	f.count++
	*slot = frame{in: slot.in[:0], out: slot.out[:0]}
	return slot, dropped, digit
}

// pop gives the oldest frame, whose slices are good until the next pop.
func (f *frames) pop() (sip.Frame, bool) {
	if f.count == 0 {
		return sip.Frame{}, false
	}
	f.ring[f.first], f.reading = f.reading, f.ring[f.first]
	f.first = (f.first + 1) % unread
	f.count--
	r := &f.reading
	given := sip.Frame{In: r.in, Digit: r.digit, Held: r.held, Elapsed: r.elapsed}
	if r.played {
		given.Out = r.out
	}
	return given, true
}
