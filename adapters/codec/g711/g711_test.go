package g711_test

import (
	"math"
	"testing"

	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/adapters/codec/g711"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/siptest"
)

// laws contains both codecs of package g711.
var laws = codec.Set{g711.PCMU(), g711.PCMA()}

func open(t *testing.T, name string) sip.Codec {
	t.Helper()
	c, err := laws.New(name)
	if err != nil {
		t.Fatal(err)
	}
	if c.Rate() != 8000 || c.Clock() != 8000 {
		t.Fatalf("%s has a rate of %d and a clock of %d", name, c.Rate(), c.Clock())
	}
	return c
}

func TestCodec(t *testing.T) { //nolint:paralleltest // the suite counts allocations
	for _, e := range laws {
		t.Run(e.Name, func(t *testing.T) {
			siptest.RunCodec(t, e.New, siptest.CodecFeatures{SignalToNoise: 36, EveryPayload: true})
		})
	}
}

// TestKnownValues compares decoded bytes with values of ITU-T G.711, tables 1 and 2, scaled from 14 and 13 bits to 16.
func TestKnownValues(t *testing.T) {
	t.Parallel()
	tests := map[string]map[byte]int16{
		"PCMU": {0x80: 32124, 0x00: -32124, 0xFF: 0, 0xFE: 8, 0x7E: -8, 0x8F: 16764, 0xEF: 132, 0xF0: 120, 0xDF: 396},
		"PCMA": {0xAA: 32256, 0x2A: -32256, 0xD5: 8, 0x55: -8, 0xD4: 24, 0xC5: 264, 0x80: 5504, 0xA5: 16896},
	}
	for name, values := range tests {
		c := open(t, name)
		for b, want := range values {
			if got, _ := c.Decode(nil, []byte{b}); got[0] != want {
				t.Errorf("%s %#02x is %d, want %d", name, b, got[0], want)
			}
		}
	}
}

// TestEveryByteReadsBack decodes and encodes every byte: the result is the same byte, except that the negative zero of the mu-law becomes
// the positive zero.
func TestEveryByteReadsBack(t *testing.T) {
	t.Parallel()
	for _, name := range laws.Names() {
		c := open(t, name)
		for b := range 256 {
			samples, _ := c.Decode(nil, []byte{byte(b)})
			again, _ := c.Encode(nil, samples)
			if again[0] != byte(b) && !(name == "PCMU" && b == 0x7F && again[0] == 0xFF) {
				t.Errorf("%s %#02x means %d, which encodes to %#02x", name, b, samples[0], again[0])
			}
		}
	}
}

// TestEverySampleIsNear encodes and decodes every sample. The error is at most 1/16 of the sample, or 16 for small samples, except for
// samples that G.711 clips (from 32124). A greater sample never results in a smaller one.
func TestEverySampleIsNear(t *testing.T) {
	t.Parallel()
	for _, name := range laws.Names() {
		c, last := open(t, name), math.MinInt16
		for s := math.MinInt16; s <= math.MaxInt16; s++ {
			payload, _ := c.Encode(nil, []int16{int16(s)})
			back, _ := c.Decode(nil, payload)
			got := int(back[0])
			if off := math.Abs(float64(got - s)); off > math.Max(16, math.Abs(float64(s))/16) && math.Abs(float64(s)) < 32124 {
				t.Fatalf("%s: %d comes back as %d", name, s, got)
			}
			if got < last {
				t.Fatalf("%s: %d comes back as %d, after %d for the sample below it", name, s, got, last)
			}
			last = got
		}
	}
}
