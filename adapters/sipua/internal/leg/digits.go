package leg

import (
	"sync"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/adapters/sipua/internal/tone"
	"github.com/callwright/callwright/adapters/sipua/internal/transport"
	trunk "github.com/callwright/callwright/sip"
)

const (
	maxDigits = 64 // maximum number of digits that Read has not yet returned
	samePress = 25 // frames (half a second) within which a first telephone-event repeats a digit of the other method
)

// digits merges the two methods by which the peer may send digits: telephone-events, and either INFO or tones. After the first
// telephone-event, digits ignores the other method.
type digits struct {
	mode  trunk.DTMFMode
	tones *tone.Detector // nil until the first frame, and unless the mode is inband

	mu      sync.Mutex
	events  bool   // a telephone-event has arrived
	waiting []byte // digits of INFO or tones that the method frame has not returned
	last    byte   // the last digit of INFO or tones that the method frame returned
	age     int    // number of frames since last
}

// press queues a digit that arrived by INFO or as a tone. It discards the digit after the first telephone-event, or if maxDigits are
// queued.
func (d *digits) press(digit byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.events && len(d.waiting) < maxDigits {
		d.waiting = append(d.waiting, digit)
	}
}

// frame returns the next digit for a frame of audio, or 0 if there is none. event is the digit of a telephone-event in the frame, or 0.
func (d *digits) frame(event byte, pcm []int16, rate int) byte {
	if d.mode == trunk.DTMFInband {
		if d.tones == nil {
			d.tones = tone.New(rate)
		}
		for _, digit := range d.tones.Feed(pcm) {
			d.press(digit)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.age++
	switch {
	case event != 0:
		first := !d.events
		d.events, d.waiting = true, nil
		if first && event == d.last && d.age <= samePress {
			return 0
		}
		return event
	case len(d.waiting) == 0:
		return 0
	}
	d.last, d.age = d.waiting[0], 0
	d.waiting = d.waiting[1:]
	return d.last
}

// TakesInfo reports whether the leg accepts digits by INFO.
func (l *Leg) TakesInfo() bool { return l.digits.mode == trunk.DTMFInfo }

// Inform answers an INFO of the peer and queues its digit.
func (l *Leg) Inform(req *sip.Request, tx *transport.ServerTx) {
	l.mailbox.Post(func() {
		digit, r := message.ReadDigit(req)
		if tag := l.machine.RemoteTag(); tag == "" || message.Tag(req.From().Params) != tag {
			digit, r = 0, message.Refusal{Status: sip.StatusCallTransactionDoesNotExists}
		}
		_ = tx.Respond(r.Response(req, l.id.Agent))
		l.replied(req, r.Status)
		if digit != 0 {
			l.digits.press(digit)
		}
		l.deliver(l.inbox.skip(req.CSeq().SeqNo))
	})
}
