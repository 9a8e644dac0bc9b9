package opus_test

import (
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
	if _, err := c.Encode(nil, make([]int16, 160)); err == nil {
		t.Error("10 ms were encoded")
	}
	if _, err := c.Decode(nil, nil); err == nil {
		t.Error("an empty payload was decoded")
	}
}
