package jitter

import "time"

// Decoder decodes the packets of one codec.
type Decoder interface {
	// Decode appends the samples of a payload to dst.
	Decode(dst []int16, payload []byte) ([]int16, error)
}

// Format describes the codecs of a player's packets.
type Format struct {
	Decoders []Decoder // one for each codec; packets identify their codec by the index
	Rate     int       // samples per second that each decoder returns
	Clock    int       // RTP ticks per second of these codecs
}

// Player converts packets of any length to frames of 20 ms. It is not safe for concurrent use.
type Player struct {
	format  Format // Clock is the RTP clock of the current codec
	clocks  []int  // RTP ticks per second, by decoder
	buffer  *Buffer
	conceal *concealer
	ready   []int16 // samples that Frame has not returned yet

	decoded, refused uint64 // numbers of packets
}

// NewPlayer returns a player for packets of a format. Its delay stays between the given minimum and maximum.
func NewPlayer(f Format, least, most time.Duration) *Player {
	p := &Player{format: f, buffer: NewBuffer(f.Clock, least, most), conceal: newConcealer(f.Rate)}
	for range f.Decoders {
		p.clocks = append(p.clocks, f.Clock)
	}
	return p
}

// Add adds a decoder for packets with an RTP clock of the given number of ticks per second. The decoder's index follows the last one.
func (p *Player) Add(d Decoder, clock int) {
	p.format.Decoders, p.clocks = append(p.format.Decoders, d), append(p.clocks, clock)
}

// Use prepares the player for a packet of a codec, and returns the codec's RTP clock in ticks per second. If that clock differs from the
// current one, Use drops the waiting packets, because timestamps of different clocks cannot be compared.
func (p *Player) Use(codec int) (clock int) {
	if clock = p.clocks[codec]; clock != p.format.Clock {
		p.format.Clock = clock
		p.buffer.Retime(clock)
	}
	return clock
}

// Counts returns the numbers of decoded and undecodable packets since the player was created.
func (p *Player) Counts() (decoded, refused uint64) { return p.decoded, p.refused }

// Push adds a packet that arrived at the given time: see Buffer.Push.
func (p *Player) Push(now time.Duration, sequence uint16, timestamp uint32, codec int, payload []byte) Verdict {
	return p.buffer.Push(now, sequence, timestamp, codec, payload)
}

// Reset drops the waiting packets. The playout begins anew with the next packet, for example with one of another source.
func (p *Player) Reset() { p.buffer.Reset() }

// maxTail is the maximum number of frames of a former source that are played after the first packet of the next source arrives. They last
// no longer than that packet waits, so that the delay does not grow.
const maxTail = 2

// Follow begins another source. It decodes the waiting packets of the former source up to maxTail frames, and drops the others.
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

// Delay returns the current target of the player's delay.
func (p *Player) Delay() time.Duration { return p.buffer.Delay() }

// Frame appends to dst the 20 ms of audio that are due at the given time.
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
			return // without audio, so its time is concealed as a gap
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
