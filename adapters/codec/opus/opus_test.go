package opus_test

import (
	"math"
	"slices"
	"testing"

	"github.com/callwright/callwright/adapters/codec/opus"
	"github.com/callwright/callwright/sip/siptest"
)

func TestCodec(t *testing.T) { //nolint:paralleltest // the suite counts allocations
	siptest.RunCodec(t, opus.Engine().New, siptest.CodecFeatures{SignalToNoise: 12})
}

func TestRates(t *testing.T) {
	t.Parallel()
	c, err := opus.Engine().New()
	if err != nil {
		t.Fatal(err)
	}
	if c.Rate() != 16000 || c.Clock() != 48000 {
		t.Errorf("a rate of %d and a clock of %d", c.Rate(), c.Clock())
	}
	if _, err := c.Encode(nil, make([]int16, 480)); err == nil {
		t.Error("30 ms were encoded")
	}
	if _, err := c.Decode(nil, nil); err == nil {
		t.Error("an empty payload was decoded")
	}
}

// TestPacketTimes checks that consecutive packets of different negotiable lengths each decode to as much audio as was encoded, and that
// this audio is not silent after the first packet.
func TestPacketTimes(t *testing.T) {
	t.Parallel()
	c, err := opus.Engine().New()
	if err != nil {
		t.Fatal(err)
	}
	for i, length := range []int{10, 20, 40, 60, 20, 10, 10, 60} {
		said := make([]int16, length*16)
		for n := range said {
			said[n] = int16(8000 * math.Sin(2*math.Pi*400*float64(n)/16000))
		}
		payload, err := c.Encode(nil, said)
		if err != nil {
			t.Fatal(err)
		}
		heard, err := c.Decode(nil, payload)
		if err != nil || len(heard) != len(said) {
			t.Fatalf("%d ms came back as %d samples, %v", length, len(heard), err)
		}
		if i > 0 && slices.Max(heard) < 2000 {
			t.Errorf("packet %d of %d ms is silent", i, length)
		}
	}
}

func BenchmarkCodec(b *testing.B) { siptest.BenchCodec(b, opus.Engine().New) }
