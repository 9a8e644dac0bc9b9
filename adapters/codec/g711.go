package codec

import "github.com/zaf/g711"

// g711Codec is one of the laws of ITU-T G.711: one byte a sample at 8000 samples a second, with the static payload types
// 0 for PCMU and 8 for PCMA (RFC 3551, section 4.5.14). It holds no state, so one serves every call.
type g711Codec struct {
	name   string
	encode func(int16) uint8
	decode func(uint8) int16
}

var (
	pcmu = &g711Codec{"PCMU", g711.EncodeUlawFrame, g711.DecodeUlawFrame}
	pcma = &g711Codec{"PCMA", g711.EncodeAlawFrame, g711.DecodeAlawFrame}
)

// g711Rate is the rate of G.711 audio and of its RTP clock.
const g711Rate = 8000

// Name is the encoding name of the SDP.
func (c *g711Codec) Name() string { return c.name }

// Rate is the samples a second of the audio.
func (*g711Codec) Rate() int { return g711Rate }

// Clock is the ticks a second of the RTP timestamp.
func (*g711Codec) Clock() int { return g711Rate }

// Encode appends one byte a sample. It never fails.
func (c *g711Codec) Encode(dst []byte, pcm []int16) ([]byte, error) {
	for _, s := range pcm {
		dst = append(dst, c.encode(s))
	}
	return dst, nil
}

// Decode appends one sample a byte. Every byte is a valid sample, so it never fails.
func (c *g711Codec) Decode(dst []int16, payload []byte) ([]int16, error) {
	for _, b := range payload {
		dst = append(dst, c.decode(b))
	}
	return dst, nil
}
