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
	maxDigits = 64 // that wait for a reader
	samePress = 25 // frames in which a telephone-event is the press that another way has told of before: half a second
)

// digits joins the ways in which the digits of the peer come. Telephone-events win: once they come, the other way is ignored.
type digits struct {
	mode  trunk.DTMFMode
	tones *tone.Detector // nil before the first frame

	mu      sync.Mutex
	events  bool   // telephone-events have come
	waiting []byte // that came by the other way
	last    byte   // of them
	age     int    // frames since it was given
}

// press adds a digit that came by another way than telephone-events.
func (d *digits) press(digit byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.events && len(d.waiting) < maxDigits {
		d.waiting = append(d.waiting, digit)
	}
}

// frame returns the digit that begins in a frame of audio; event is the digit of a telephone-event. 0 is none.
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

// TakesInfo reports whether digits may come by INFO.
func (l *Leg) TakesInfo() bool { return l.digits.mode == trunk.DTMFInfo }

// Inform handles an INFO of the peer.
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
