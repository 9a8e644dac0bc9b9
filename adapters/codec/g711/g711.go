// Package g711 is ITU-T G.711, the codec of the telephone network: one byte a sample at 8000 samples a second, by the
// mu-law of North America and Japan (PCMU) or the A-law of the rest of the world (PCMA).
package g711

import (
	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/speech/pcm"
)

// PCMU returns the engine of the mu-law, static payload type 0 (RFC 3551, section 4.5.14).
func PCMU() codec.Engine { return engine("PCMU", pcm.AppendMuLaw, pcm.FromMuLaw) }

// PCMA returns the engine of the A-law, static payload type 8 (RFC 3551, section 4.5.14).
func PCMA() codec.Engine { return engine("PCMA", pcm.AppendALaw, pcm.FromALaw) }

func engine(name string, encode func([]byte, []int16) []byte, decode func([]int16, []byte) []int16) codec.Engine {
	c := &law{name: name, encode: encode, decode: decode} // it holds no state, so one serves every call
	return codec.Engine{Name: name, New: func() (sip.Codec, error) { return c, nil }}
}

// rate is the rate of the audio and of the RTP clock, in Hz.
const rate = 8000

// law is one of the two laws.
type law struct {
	name   string
	encode func(dst []byte, samples []int16) []byte
	decode func(dst []int16, raw []byte) []int16
}

// Name returns the encoding name of the SDP.
func (l *law) Name() string { return l.name }

// Rate returns the samples a second of the audio.
func (*law) Rate() int { return rate }

// Clock returns the ticks a second of the RTP timestamp.
func (*law) Clock() int { return rate }

// Encode appends one byte a sample. It never fails.
func (l *law) Encode(dst []byte, samples []int16) ([]byte, error) {
	return l.encode(dst, samples), nil
}

// Decode appends one sample a byte. Every byte is a valid sample, so it never fails.
func (l *law) Decode(dst []int16, payload []byte) ([]int16, error) {
	return l.decode(dst, payload), nil
}
