package rtpmedia

import "github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/dtmf"

// playout is the queue of audio and digits to send. Digits are sent after the samples that were queued before them.
type playout struct {
	samples []int16
	head    int   // samples[:head] were played
	taken   int64 // number of samples played or dropped since the session began
	digits  []*digits
}

// digits holds the digits of one SendDTMF call, which waits until done is closed.
type digits struct {
	sequence *dtmf.Sequence
	after    int64 // value of playout.taken at which the digits begin
	err      error
	done     chan struct{}
}

func (p *playout) queued() int { return len(p.samples) - p.head }

func (p *playout) push(samples []int16) {
	if p.head > 0 && len(p.samples)+len(samples) > cap(p.samples) {
		p.samples = p.samples[:copy(p.samples, p.samples[p.head:])]
		p.head = 0
	}
	p.samples = append(p.samples, samples...)
}

// fill moves queued samples to dst, and fills the rest of dst with silence. It reports whether any samples were queued.
func (p *playout) fill(dst []int16) bool {
	n := copy(dst, p.samples[p.head:])
	clear(dst[n:])
	p.head += n
	p.taken += int64(n)
	return n > 0
}

func (p *playout) flush() int {
	n := p.queued()
	p.taken += int64(n)
	p.samples, p.head = p.samples[:0], 0
	return n
}

// pushDigits queues digits after all samples that are queued now.
func (p *playout) pushDigits(sequence *dtmf.Sequence) *digits {
	d := &digits{sequence: sequence, after: p.taken + int64(p.queued()), done: make(chan struct{})}
	p.digits = append(p.digits, d)
	return d
}

// event advances the current digits by 20 ms. The result busy reports whether digits are being sent, so that no samples may be played. The
// result some reports whether there is a packet to send; there is none in the pauses between and after digits.
func (p *playout) event() (packet dtmf.Packet, some, busy bool) {
	for len(p.digits) > 0 {
		d := p.digits[0]
		if d.sequence.Done() {
			p.endDigits(nil)
			continue
		}
		if p.taken < d.after {
			break
		}
		packet, some = d.sequence.Next()
		if d.sequence.Done() {
			p.endDigits(nil)
		}
		return packet, some, true
	}
	return dtmf.Packet{}, false, false
}

// endDigits removes the first digits of the queue, and makes their SendDTMF call return err.
func (p *playout) endDigits(err error) {
	p.digits[0].err = err
	close(p.digits[0].done)
	p.digits = p.digits[1:]
}

// failDigits removes all digits, and makes their SendDTMF calls return err.
func (p *playout) failDigits(err error) {
	for len(p.digits) > 0 {
		p.endDigits(err)
	}
}
