package rtpmedia

import (
	"slices"
	"time"

	"github.com/callwright/callwright/sip"
)

// unread is the maximum number of frames that wait for a reader. A further frame replaces the oldest, because the pacer never waits.
const unread = 10

// frames is a ring buffer of unread frames. It reuses the frames' slices, so that the pacer and the reader exchange frames without copying
// or allocating.
type frames struct {
	ring    [unread]frame
	first   int
	count   int
	reading frame // the frame that the reader uses; its buffers are reused at the next pop
	digits  []begun
}

// begun holds a digit and the time of the first frame that may carry it. If that frame is dropped, a later frame carries the digit.
type begun struct {
	digit byte
	at    time.Duration // sip.Frame.Elapsed of the first frame that may carry digit
}

// maxDigits is the maximum number of digits that wait for a reader; further digits are dropped. A person needs about 100 ms to press a
// digit.
const maxDigits = 64

type frame struct {
	in, out []int16
	played  bool // out was played; if false, silence was played
	held    bool
	elapsed time.Duration
}

// add returns an empty frame at the end of the ring for the caller to fill. dropped reports whether the oldest frame had to be dropped.
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

// begin queues the digits that begin in the frame at the given time.
func (f *frames) begin(digits []byte, at time.Duration) {
	for _, d := range digits {
		if len(f.digits) < maxDigits {
			f.digits = append(f.digits, begun{d, at})
		}
	}
}

// pop removes and returns the oldest frame, with at most one of the queued digits, or returns false if there is no frame. The frame's
// slices are valid until the next pop.
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
