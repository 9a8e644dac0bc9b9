package rtpmedia

import (
	"slices"
	"time"

	"github.com/callwright/callwright/sip"
)

// unread bounds the frames that wait for a reader. One more drops the oldest: the pacer never waits.
const unread = 10

// frames is a ring of the frames that have not been read. Its buffers are used again: nothing is copied or allocated
// between the pacer and the reader.
type frames struct {
	ring    [unread]frame
	first   int
	count   int
	reading frame // the frame that the reader uses; its buffers are reused at the next pop
	digits  []begun
}

// begun is a digit and the first frame that may carry it. A digit outlives a frame that is dropped.
type begun struct {
	digit byte
	at    time.Duration // Elapsed of that frame
}

// maxDigits bounds the digits that wait for a reader. A person needs 100 ms for one.
const maxDigits = 64

type frame struct {
	in, out []int16
	played  bool // out was played; else silence was
	held    bool
	elapsed time.Duration
}

// add makes room for a frame and returns it to be filled; its buffers are empty.
func (f *frames) add() (slot *frame, dropped bool) {
	if f.count == unread {
		dropped = true
		f.first = (f.first + 1) % unread
		f.count--
	}
	slot = &f.ring[(f.first+f.count)%unread]
	f.count++
	*slot = frame{in: slot.in[:0], out: slot.out[:0]}
	return slot, dropped
}

// begin notes digits that have begun in a frame.
func (f *frames) begin(digits []byte, at time.Duration) {
	for _, d := range digits {
		if len(f.digits) < maxDigits {
			f.digits = append(f.digits, begun{d, at})
		}
	}
}

// pop returns the oldest frame, whose slices are good until the next pop.
func (f *frames) pop() (sip.Frame, bool) {
	if f.count == 0 {
		return sip.Frame{}, false
	}
	f.ring[f.first], f.reading = f.reading, f.ring[f.first]
	f.first = (f.first + 1) % unread
	f.count--
	r := &f.reading
	given := sip.Frame{In: r.in, OnHold: r.held, Elapsed: r.elapsed}
	if len(f.digits) > 0 && f.digits[0].at <= r.elapsed {
		given.Digit = f.digits[0].digit
		f.digits = slices.Delete(f.digits, 0, 1)
	}
	if r.played {
		given.Out = r.out
	}
	return given, true
}
