// Package g711 implements ITU-T G.711, the codec of the telephone network. It uses one byte per sample at 8000 samples per second, encoded
// by the mu-law of North America and Japan (PCMU) or the A-law of the rest of the world (PCMA).
package g711

import (
	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/speech/pcm"
)

// PCMU returns the engine for the mu-law, static payload type 0 (RFC 3551, section 4.5.14).
func PCMU() codec.Engine { return engine("PCMU", pcm.AppendMuLaw, pcm.FromMuLaw) }

// PCMA returns the engine for the A-law, static payload type 8 (RFC 3551, section 4.5.14).
func PCMA() codec.Engine { return engine("PCMA", pcm.AppendALaw, pcm.FromALaw) }

func engine(name string, encode func([]byte, []int16) []byte, decode func([]int16, []byte) []int16) codec.Engine {
	c := &law{name: name, encode: encode, decode: decode} // has no state, so all calls share it
	return codec.Engine{Name: name, New: func() (sip.Codec, error) { return c, nil }}
}

// rate is the sample rate of the audio and the rate of the RTP clock, in Hz.
const rate = 8000

// law is a codec for the mu-law or the A-law.
type law struct {
	name   string
	encode func(dst []byte, samples []int16) []byte
	decode func(dst []int16, raw []byte) []int16
}

// Name returns the SDP encoding name.
func (l *law) Name() string { return l.name }

// Rate returns the sample rate of the audio in Hz.
func (*law) Rate() int { return rate }

// Clock returns the rate of the RTP timestamp in ticks per second.
func (*law) Clock() int { return rate }

// Encode appends one byte per sample to dst. It never returns an error.
func (l *law) Encode(dst []byte, samples []int16) ([]byte, error) {
	return l.encode(dst, samples), nil
}

// Decode appends one sample per byte to dst. It never returns an error, because every byte is a valid sample.
func (l *law) Decode(dst []int16, payload []byte) ([]int16, error) {
	return l.decode(dst, payload), nil
}
