package g722_test

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"testing"

	"github.com/callwright/callwright/adapters/codec/g722"
	"github.com/callwright/callwright/sip/siptest"
)

func TestCodec(t *testing.T) { //nolint:paralleltest // the suite counts allocations
	siptest.RunCodec(t, g722.Engine().New, siptest.CodecFeatures{SignalToNoise: 40, EveryPayload: true})
}

// frame returns the n-th 20 ms of a signal that consists of two tones and a little noise.
func frame(rate, n int) []int16 {
	pcm := make([]int16, rate/50)
	for i := range pcm {
		at := float64(n*len(pcm)+i) / float64(rate)
		pcm[i] = int16(6000*math.Sin(2*math.Pi*440*at) + 3000*math.Sin(2*math.Pi*1210*at) + float64((n*31+i*17)%200))
	}
	return pcm
}

// TestBits compares the encoded bits with the bits of an independent implementation, by their checksum.
func TestBits(t *testing.T) {
	t.Parallel()
	c, err := g722.Engine().New()
	if err != nil {
		t.Fatal(err)
	}
	if c.Rate() != 16000 || c.Clock() != 8000 {
		t.Errorf("a rate of %d and a clock of %d", c.Rate(), c.Clock())
	}
	digest := sha256.New()
	for n := range 50 {
		payload, err := c.Encode(nil, frame(16000, n))
		if err != nil {
			t.Fatal(err)
		}
		digest.Write(payload)
	}
	const want = "d7cebf497c62cec7f311034a2402925c6fa7ab83f814ee8e86b6ed32a33e92f0"
	if got := hex.EncodeToString(digest.Sum(nil)); got != want {
		t.Errorf("the bits have the checksum %s", got)
	}
}
