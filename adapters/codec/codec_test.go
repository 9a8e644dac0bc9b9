package codec_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strings"
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

// laws are the names of the G.711 codecs.
var laws = []string{"PCMU", "PCMA"}

func TestNew(t *testing.T) {
	t.Parallel()
	want := map[string][2]int{"PCMU": {8000, 8000}, "PCMA": {8000, 8000}, "G722": {16000, 8000}, "opus": {16000, 48000}}
	for _, name := range codec.Names() {
		for _, spelling := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			if c := open(t, spelling); c.Name() != name || [2]int{c.Rate(), c.Clock()} != want[name] {
				t.Errorf("%s: %s with rate %d and clock %d", spelling, c.Name(), c.Rate(), c.Clock())
			}
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("there is no %v", want)
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
	for _, name := range laws {
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
	for _, name := range laws {
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
		c, err := codec.New(rapid.SampledFrom(laws).Draw(t, "name"))
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

// frame is 20 ms of something like speech: two tones and a little noise.
func frame(rate, n int) []int16 {
	pcm := make([]int16, rate/50)
	for i := range pcm {
		at := float64(n*len(pcm)+i) / float64(rate)
		pcm[i] = int16(6000*math.Sin(2*math.Pi*440*at) + 3000*math.Sin(2*math.Pi*1210*at) + float64((n*31+i*17)%200))
	}
	return pcm
}

// TestSoundsTheSame: a second of audio comes back as it went, after the delay that the codec has.
func TestSoundsTheSame(t *testing.T) {
	t.Parallel()
	for _, name := range codec.Names() {
		encoder, decoder := open(t, name), open(t, name)
		var went, came []int16
		for n := range 50 {
			pcm := frame(encoder.Rate(), n)
			payload, err := encoder.Encode(nil, pcm)
			if err != nil {
				t.Fatal(err)
			}
			if came, err = decoder.Decode(came, payload); err != nil {
				t.Fatal(err)
			}
			went = append(went, pcm...)
		}
		if len(came) != len(went) {
			t.Fatalf("%s: %d samples came of %d", name, len(came), len(went))
		}
		if ratio := best(went, came); ratio < 12 {
			t.Errorf("%s: the signal is %.1f dB above what the codec has added", name, ratio)
		}
	}
}

// best is the ratio of signal to noise in dB at the delay, of up to 20 ms, at which it is best. The first half, in which a
// codec adapts, is left out.
func best(went, came []int16) float64 {
	ratio := math.Inf(-1)
	for delay := range 320 {
		var signal, noise float64
		for i := len(came) / 2; i < len(came); i++ {
			w, c := float64(went[i-delay]), float64(came[i])
			signal += w * w
			noise += (c - w) * (c - w)
		}
		ratio = max(ratio, 10*math.Log10(signal/noise))
	}
	return ratio
}

// TestG722Bits holds the encoder to the bits of an independent implementation, of which this is the checksum.
func TestG722Bits(t *testing.T) {
	t.Parallel()
	c := open(t, "G722")
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

// TestAnythingDecodes: no payload of a peer breaks a decoder, also not for the payloads after it.
func TestAnythingDecodes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(codec.Names()).Draw(t, "name")
		c, err := codec.New(name)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			before := []int16{42}
			got, err := c.Decode(before, rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "payload"))
			if len(got) < 1 || got[0] != 42 || err != nil && len(got) != 1 {
				t.Fatalf("%s: %d samples, %v", name, len(got), err)
			}
		}
		encoder, _ := codec.New(name)
		payload, _ := encoder.Encode(nil, frame(encoder.Rate(), 0))
		if got, err := c.Decode(nil, payload); err != nil || len(got) != c.Rate()/50 {
			t.Fatalf("%s: afterwards 20 ms decode to %d samples, %v", name, len(got), err)
		}
	})
}

func TestAllocatesNothing(t *testing.T) {
	for _, name := range codec.Names() {
		c := open(t, name)
		in, payload, out := frame(c.Rate(), 0), make([]byte, 0, 1500), make([]int16, 0, 5760)
		n := testing.AllocsPerRun(100, func() {
			packet, _ := c.Encode(payload, in)
			_, _ = c.Decode(out, packet)
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
			in, payload := frame(c.Rate(), 0), make([]byte, 0, 1500)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = c.Encode(payload, in)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range codec.Names() {
		b.Run(name, func(b *testing.B) {
			c, _ := codec.New(name)
			payload, _ := c.Encode(nil, frame(c.Rate(), 0))
			out := make([]int16, 0, 5760)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = c.Decode(out, payload)
			}
		})
	}
}
