package audiofile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/jfreymuth/vorbis"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
)

// isVorbis reports whether a packet is a Vorbis header of the given kind: 1 (identification), 3 (comment) or 5 (setup).
func isVorbis(packet []byte, kind byte) bool {
	return len(packet) > 7 && packet[0] == kind && string(packet[1:7]) == "vorbis"
}

// maxChannels is the maximum number of channels in a Vorbis recording.
const maxChannels = 8

// openOgg opens the first Vorbis or Opus stream of an Ogg file, and returns the name of its format.
func (d Decoder) openOgg(src io.Reader) (string, source, error) {
	p, first, err := openStreams(src, d.taken())
	if err != nil {
		return kindOgg, source{}, err
	}
	if isVorbis(first, 1) {
		opened, err := openVorbis(p, first)
		return "Ogg Vorbis", opened, err
	}
	opened, err := d.openOpus(p, first)
	return "Ogg Opus", opened, err
}

// openVorbis reads the headers (Vorbis I, section 4.2). It does not parse the comments, because the library would trust the number of
// comments that the header states.
func openVorbis(p *packets, first []byte) (source, error) {
	if err := checkIdentification(first); err != nil {
		return source{}, err
	}
	comments, _, err := p.next()
	if err != nil || !isVorbis(comments, 3) {
		return source{}, errors.New("no comment header")
	}
	setup, _, err := p.next()
	if err != nil || !isVorbis(setup, 5) || len(setup) == maxPacket {
		return source{}, fmt.Errorf("the setup header is missing, or has %d bytes or more", maxPacket)
	}
	if err := checkSetup(setup[7:]); err != nil {
		return source{}, err
	}
	var d vorbis.Decoder
	if err := errors.Join(d.ReadHeader(first), d.ReadHeader(setup)); err != nil {
		return source{}, err
	}
	stream := &vorbisStream{packets: p, decoder: &d, floats: make([]float32, d.BufferSize())}
	return source{d.SampleRate(), stream.next}, nil
}

// checkIdentification checks the values of the identification header that the library does not check: channels, sample rate and block
// sizes.
func checkIdentification(b []byte) error {
	if len(b) < 30 {
		return errors.New("the identification header is too short")
	}
	channels, rate := int(b[11]), binary.LittleEndian.Uint32(b[12:])
	if channels < 1 || channels > maxChannels || rate < pcm.MinRate || rate > pcm.MaxRate {
		return callwright.Errorf(callwright.CodeUnsupportedMedia,
			"the recording has %d channels and %d samples a second: it must have 1 to %d channels and %d to %d samples a second",
			channels, rate, maxChannels, pcm.MinRate, pcm.MaxRate)
	}
	if short, long := b[28]&0x0F, b[28]>>4; short < 6 || long > 13 || short > long {
		return errors.New("invalid Vorbis block sizes")
	}
	return nil
}

// vorbisStream decodes a Vorbis stream to mono.
type vorbisStream struct {
	packets *packets
	decoder *vorbis.Decoder
	floats  []float32
	mono    []int16
	made    int64 // samples decoded so far
}

func (s *vorbisStream) next() ([]int16, error) {
	packet, last, err := s.packets.next()
	if err != nil {
		return nil, err
	}
	out, err := s.decoder.DecodeInto(packet, s.floats)
	if err != nil {
		return nil, err
	}
	s.mono = s.mono[:0]
	for channels := s.decoder.Channels(); len(out) >= channels; out = out[channels:] {
		sum := float32(0)
		for _, v := range out[:channels] {
			sum += v
		}
		s.mono = append(s.mono, toSample(float64(sum)/float64(channels)))
	}
	s.made += int64(len(s.mono))
	if last >= 0 && s.made > last { // discard the padding of the last block
		s.mono = s.mono[:max(0, int64(len(s.mono))-(s.made-last))]
	}
	return s.mono, nil
}

func toSample(v float64) int16 {
	if math.IsNaN(v) {
		return 0
	}
	return int16(max(math.MinInt16, min(math.MaxInt16, math.Round(v*32768))))
}
