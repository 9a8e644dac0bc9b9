package rtpmedia

import "github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/dtmf"

// playout is the send queue: samples, and digits that follow a number of samples.
type playout struct {
	samples []int16
	head    int   // samples[:head] have been taken
	taken   int64 // samples that were played or dropped since the beginning
	digits  []*digits
}

// digits is one call of SendDTMF.
type digits struct {
	sequence *dtmf.Sequence
	after    int64 // begins when so many samples were taken
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

// fill fills dst with samples, and with silence after the last. It reports whether there were any.
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

// pushDigits queues a sequence of digits.
func (p *playout) pushDigits(sequence *dtmf.Sequence) *digits {
	d := &digits{sequence: sequence, after: p.taken + int64(p.queued()), done: make(chan struct{})}
	p.digits = append(p.digits, d)
	return d
}

// event advances the digits whose turn it is by 20 ms. busy says that it is the turn of digits, so that no samples are
// played. Most of these steps have a packet, but not all.
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

// endDigits ends the first SendDTMF with err.
func (p *playout) endDigits(err error) {
	p.digits[0].err = err
	close(p.digits[0].done)
	p.digits = p.digits[1:]
}

// failDigits ends every SendDTMF with err.
func (p *playout) failDigits(err error) {
	for len(p.digits) > 0 {
		p.endDigits(err)
	}
}
