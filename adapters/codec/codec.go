// Package codec makes RTP payloads of audio and audio of RTP payloads: the codecs that a call can be negotiated with.
package codec

import (
	"strings"

	"github.com/zaf/g711"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

// Codec is one codec. It holds no state, so one may serve any number of calls and directions at the same time.
type Codec struct {
	name   string
	encode func(int16) uint8
	decode func(uint8) int16
}

var _ sip.Codec = (*Codec)(nil)

// G.711 (ITU-T G.711; RFC 3551, sections 4.5.14): one byte a sample at 8000 samples a second, with static payload
// types 0 for PCMU and 8 for PCMA.
var known = []*Codec{
	{name: "PCMU", encode: g711.EncodeUlawFrame, decode: g711.DecodeUlawFrame},
	{name: "PCMA", encode: g711.EncodeAlawFrame, decode: g711.DecodeAlawFrame},
}

// g711Rate is the rate of G.711 audio and of its RTP clock.
const g711Rate = 8000

// New gives a codec by its SDP name, in any case (RFC 4855, section 3). A codec without an engine here is
// CodeUnavailable.
func New(name string) (sip.Codec, error) {
	for _, c := range known {
		if strings.EqualFold(c.name, name) {
			return c, nil
		}
	}
	return nil, callwright.Errorf(callwright.CodeUnavailable, "there is no engine for the codec %q", name)
}

// Names are the SDP names of the codecs that New makes.
func Names() []string {
	names := make([]string, len(known))
	for i, c := range known {
		names[i] = c.name
	}
	return names
}

// Name is the encoding name of the SDP.
func (c *Codec) Name() string { return c.name }

// Rate is the samples a second of the audio.
func (c *Codec) Rate() int { return g711Rate }

// Clock is the ticks a second of the RTP timestamp.
func (c *Codec) Clock() int { return g711Rate }

// FrameSamples is how many samples 20 ms have.
func (c *Codec) FrameSamples() int { return g711Rate / 50 }

// Encode appends one byte a sample. It never fails.
func (c *Codec) Encode(dst []byte, pcm []int16) ([]byte, error) {
	for _, s := range pcm {
		dst = append(dst, c.encode(s))
	}
	return dst, nil
}

// Decode appends one sample a byte. Every byte is a valid sample, so it never fails.
func (c *Codec) Decode(dst []int16, payload []byte) ([]int16, error) {
	for _, b := range payload {
		dst = append(dst, c.decode(b))
	}
	return dst, nil
}
