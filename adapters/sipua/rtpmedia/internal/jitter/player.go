package jitter

import "time"

// Decoder is the part of a codec that the player needs.
type Decoder interface {
	// Decode appends the samples of a payload.
	Decode(dst []int16, payload []byte) ([]int16, error)
}

// Format describes the contents of the packets.
type Format struct {
	Decoders []Decoder // one a codec; packets name theirs by its index
	Rate     int       // samples a second that all decoders give
	Clock    int       // RTP ticks a second, of these codecs
}

// Player returns 20 ms of audio for each call, from packets of any length.
type Player struct {
	format  Format // Clock is the clock of the codec in use
	clocks  []int  // of the decoders
	buffer  *Buffer
	conceal *concealer
	ready   []int16 // decoded and not yet given

	decoded, refused uint64 // packets
}

// NewPlayer plays packets of a format with a delay between least and most.
func NewPlayer(f Format, least, most time.Duration) *Player {
	p := &Player{format: f, buffer: NewBuffer(f.Clock, least, most), conceal: newConcealer(f.Rate)}
	for range f.Decoders {
		p.clocks = append(p.clocks, f.Clock)
	}
	return p
}

// Add adds a decoder for packets with an RTP clock of so many ticks a second. Its index is the next one.
func (p *Player) Add(d Decoder, clock int) {
	p.format.Decoders, p.clocks = append(p.format.Decoders, d), append(p.clocks, clock)
}

// Use prepares for a packet of a codec and returns its clock. A clock that differs from the former one begins a new
// order: packets that wait under the former clock are dropped.
func (p *Player) Use(codec int) (clock int) {
	if clock = p.clocks[codec]; clock != p.format.Clock {
		p.format.Clock = clock
		p.buffer.Retime(clock)
	}
	return clock
}

// Counts returns the numbers of packets that were decoded and that could not be decoded, so far.
func (p *Player) Counts() (decoded, refused uint64) { return p.decoded, p.refused }

// Push takes a packet; see Buffer.Push.
func (p *Player) Push(now time.Duration, sequence uint16, timestamp uint32, codec int, payload []byte) Verdict {
	return p.buffer.Push(now, sequence, timestamp, codec, payload)
}

// Reset begins with another source.
func (p *Player) Reset() { p.buffer.Reset() }

// maxTail bounds the frames of a former source that are played after the first packet of the next. They take no longer than
// that packet waits, so that the delay does not grow.
const maxTail = 2

// Follow begins with another source, after the waiting packets of the former one.
func (p *Player) Follow() {
	for len(p.ready) < maxTail*p.format.Rate/50 {
		head, _ := p.buffer.head()
		if head == nil {
			break
		}
		p.step(p.buffer.play(head, Audio))
	}
	p.buffer.Reset()
}

// Delay returns the delay that the player aims at.
func (p *Player) Delay() time.Duration { return p.buffer.Delay() }

// Frame appends the 20 ms that are played at now.
func (p *Player) Frame(dst []int16, now time.Duration) []int16 {
	frame := p.format.Rate / 50
	for len(p.ready) < frame {
		ahead := time.Duration(len(p.ready)) * time.Second / time.Duration(p.format.Rate)
		p.step(p.buffer.Next(now + ahead))
	}
	dst = append(dst, p.ready[:frame]...)
	p.ready = p.ready[:copy(p.ready, p.ready[frame:])]
	return dst
}

func (p *Player) step(s Step) {
	from := len(p.ready)
	switch s.Kind {
	case Audio, Skip:
		decoded, err := p.format.Decoders[s.Codec].Decode(p.ready, s.Payload)
		if err != nil || len(decoded) == from {
			p.refused++
			return // nothing of it can be played: its time is concealed as a gap
		}
		p.decoded++
		p.buffer.Advance((len(decoded) - from) * p.format.Clock / p.format.Rate)
		if s.Kind == Audio {
			p.ready = decoded
			p.conceal.good(p.ready[from:])
		}
	case Lost, Stretch:
		p.ready = p.conceal.lost(p.ready, p.samples(s.Ticks))
	case Idle, Silence:
		for range p.samples(s.Ticks) {
			p.ready = append(p.ready, 0)
		}
		p.conceal.good(p.ready[from:])
	}
}

func (p *Player) samples(ticks int) int { return ticks * p.format.Rate / p.format.Clock }
