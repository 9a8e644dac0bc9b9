package audiofile

import (
	"encoding/binary"
	"errors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
)

// opusClock is the rate of the positions in Ogg Opus, in samples per second.
const opusClock = 48000

// opusStream decodes an Ogg Opus stream (RFC 7845).
type opusStream struct {
	packets *packets
	decoder PacketDecoder
	skip    int   // samples to discard at the start
	made    int64 // samples decoded so far, including discarded ones
	gain    float64
	samples []int16
}

// openOpus checks the identification and comment headers (RFC 7845, section 5) and returns the source of the audio.
func (d Decoder) openOpus(p *packets, head []byte) (source, error) {
	if d.Opus == nil {
		return source{}, callwright.Errorf(callwright.CodeUnsupportedMedia, "the file is Ogg Opus, which this installation cannot decode: upload %s", d.taken())
	}
	if len(head) < 19 || head[8]>>4 != 0 {
		return source{}, errors.New("no identification header")
	}
	if head[18] != 0 {
		return source{}, callwright.Errorf(callwright.CodeUnsupportedMedia,
			"Ogg Opus with channel mapping family %d is not supported: convert the recording to mono or stereo, which use family 0", head[18])
	}
	if tags, _, err := p.next(); err != nil || len(tags) < 8 || string(tags[:8]) != "OpusTags" {
		return source{}, errors.New("no comment header")
	}
	decoder, err := d.Opus()
	if err != nil {
		return source{}, err
	}
	rate := decoder.Rate()
	s := &opusStream{
		packets: p, decoder: decoder,
		skip: int(binary.LittleEndian.Uint16(head[10:])) * rate / opusClock,
		gain: float64(int16(binary.LittleEndian.Uint16(head[16:]))) / 256,
	}
	return source{rate, s.next}, nil
}

func (s *opusStream) next() ([]int16, error) {
	packet, last, err := s.packets.next()
	if err != nil {
		return nil, err
	}
	s.samples, err = s.decoder.Decode(s.samples[:0], packet)
	if err != nil {
		return nil, err
	}
	before := s.made
	s.made += int64(len(s.samples))
	from, to := max(int64(s.skip)-before, 0), int64(len(s.samples))
	if last >= 0 { // discard the padding of the last packet
		to = min(to, last*int64(s.decoder.Rate())/opusClock-before)
	}
	if to <= from {
		return nil, nil
	}
	out := s.samples[from:to]
	if s.gain != 0 {
		pcm.Amplify(out, s.gain)
	}
	return out, nil
}
