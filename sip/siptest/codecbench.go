package siptest

import (
	"math"
	"testing"

	"github.com/callwright/callwright/sip"
)

// BenchCodec measures a codec with 20 ms of speech-like audio: two tones and a little noise.
func BenchCodec(b *testing.B, newCodec func() (sip.Codec, error)) {
	b.Helper()
	c, err := newCodec()
	if err != nil {
		b.Fatal(err)
	}
	pcm := make([]int16, c.Rate()/50)
	for i := range pcm {
		at := float64(i) / float64(c.Rate())
		pcm[i] = int16(6000*math.Sin(2*math.Pi*440*at) + 3000*math.Sin(2*math.Pi*1210*at) + float64(i*17%200))
	}
	sent, err := c.Encode(nil, pcm)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) {
		payload := make([]byte, 0, 1500)
		b.ReportAllocs()
		for b.Loop() {
			_, _ = c.Encode(payload, pcm)
		}
	})
	b.Run("decode", func(b *testing.B) {
		out := make([]int16, 0, 5760)
		b.ReportAllocs()
		for b.Loop() {
			_, _ = c.Decode(out, sent)
		}
	})
}
