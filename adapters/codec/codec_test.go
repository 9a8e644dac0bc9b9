package codec_test

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/sip"
)

var _ sip.Codecs = codec.New

func open(t *testing.T, name string) sip.Codec {
	t.Helper()
	c, err := codec.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNew(t *testing.T) {
	t.Parallel()
	if c, ok := open(t, "PCMU").(*codec.Codec); !ok || c.FrameSamples() != 160 {
		t.Error("20 ms are not 160 samples")
	}
	for _, name := range append(codec.Names(), "pcmu", "PcmA") {
		if c := open(t, name); c.Rate() != 8000 || c.Clock() != 8000 {
			t.Errorf("%s: rate %d and clock %d", name, c.Rate(), c.Clock())
		}
	}
	if name := open(t, "pcmu").Name(); name != "PCMU" {
		t.Errorf("name %q is not the SDP's", name)
	}
	for _, name := range []string{"", "G729", "PCMU/8000", "telephone-event"} {
		if _, err := codec.New(name); callwright.CodeOf(err) != callwright.CodeUnavailable {
			t.Errorf("%q: error %v", name, err)
		}
	}
}

// TestKnownValues holds both laws to values of ITU-T G.711, tables 1 and 2, at 14 and 13 bits scaled to 16.
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

// TestEveryByteReadsBack: encoding what a byte means gives that byte again; of the two zeros of mu-law the positive one.
func TestEveryByteReadsBack(t *testing.T) {
	t.Parallel()
	for _, name := range codec.Names() {
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

// TestEverySampleIsNear: no step is wider than 1/16 of the sample, or 16 near zero; and louder never becomes quieter.
func TestEverySampleIsNear(t *testing.T) {
	t.Parallel()
	for _, name := range codec.Names() {
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

func TestAppends(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, err := codec.New(rapid.SampledFrom(codec.Names()).Draw(t, "name"))
		if err != nil {
			t.Fatal(err)
		}
		pcm := rapid.SliceOf(rapid.Int16()).Draw(t, "pcm")
		payload, err := c.Encode([]byte("before"), pcm)
		if err != nil || !bytes.HasPrefix(payload, []byte("before")) || len(payload) != 6+len(pcm) {
			t.Fatalf("%d samples became %d bytes, %v", len(pcm), len(payload), err)
		}
		back, err := c.Decode([]int16{42}, payload[6:])
		if err != nil || back[0] != 42 || len(back) != 1+len(pcm) {
			t.Fatalf("%d bytes became %d samples, %v", len(payload)-6, len(back), err)
		}
	})
}

func TestAllocatesNothing(t *testing.T) {
	for _, name := range codec.Names() {
		c := open(t, name)
		pcm, payload := make([]int16, 160), make([]byte, 160)
		n := testing.AllocsPerRun(100, func() {
			_, _ = c.Encode(payload[:0], pcm)
			_, _ = c.Decode(pcm[:0], payload)
		})
		if n != 0 {
			t.Errorf("%s: %v allocations a packet", name, n)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, name := range codec.Names() {
		b.Run(name, func(b *testing.B) {
			c, _ := codec.New(name)
			pcm, payload := make([]int16, 160), make([]byte, 0, 160)
			for i := range pcm {
				pcm[i] = int16(i*397 - 32000)
			}
			b.ReportAllocs()
			for b.Loop() {
				_, _ = c.Encode(payload, pcm)
			}
		})
	}
}
