package rtpmedia_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
)

// hum returns a 400 Hz tone of duration d, sampled at 8 kHz.
func hum(d time.Duration) []int16 {
	pcm := make([]int16, d*8000/time.Second)
	for i := range pcm {
		pcm[i] = int16(12000 * math.Sin(2*math.Pi*400*float64(i)/8000))
	}
	return pcm
}

// silentFrames returns the number of frames whose level is less than half the level of the tone.
func silentFrames(frames []sip.Frame) (silent int) {
	for _, f := range frames {
		sum := 0.0
		for _, sample := range f.In {
			sum += float64(sample) * float64(sample)
		}
		if math.Sqrt(sum/float64(len(f.In))) < 12000/math.Sqrt2/2 {
			silent++
		}
	}
	return silent
}

// TestChangeOfCodec checks that re-INVITEs can change the codec during speech, also to one with another sample rate. The session's rate
// must stay, and no frame may be lost, even while only one side has applied the change.
func TestChangeOfCodec(t *testing.T) {
	t.Parallel()
	inCall(t, func(t *testing.T, c *call) {
		const said = 20 * time.Second
		for _, s := range []sip.MediaSession{c.caller, c.callee} {
			go func() { _ = s.Write(context.Background(), hum(said)) }()
		}
		heard := map[sip.MediaSession][]sip.Frame{}
		pass := func(d time.Duration) {
			for range int(d / (20 * ms)) {
				for _, s := range []sip.MediaSession{c.caller, c.callee} {
					heard[s] = append(heard[s], hear(t, s, 20*ms)...)
				}
			}
		}
		pass(time.Second)
		for _, codec := range []sdp.Codec{sdp.PCMA, sdp.G722, sdp.PCMU, sdp.G722, sdp.G722, sdp.PCMA} {
			only := func(can *sdp.Capabilities) { can.Codecs = []sdp.Codec{codec} }
			c.negotiate(only, only)
			for _, step := range []error{c.callee.Apply(c.callees), c.caller.Apply(c.callers)} {
				if step != nil {
					t.Fatal(step)
				}
				pass(300 * ms)
			}
			for _, s := range []sip.MediaSession{c.caller, c.callee} {
				if s.Rate() != 8000 || s.Stats().Codec != string(codec) {
					t.Errorf("%s: rate %d, codec %s", codec, s.Rate(), s.Stats().Codec)
				}
			}
			pass(time.Second)
		}
		for s, frames := range heard {
			if n := silentFrames(frames[25:]); n > 0 {
				t.Errorf("the caller %t lacks %d frames of %d", s == c.caller, n, len(frames))
			}
			if stats := s.Stats(); stats.Lost+stats.Late+stats.Bad > 0 {
				t.Errorf("%+v", stats)
			}
		}
	})
}

// TestChangeToNarrowBand checks that a session that began with a wideband codec keeps its sample rate after a change to a narrowband codec.
func TestChangeToNarrowBand(t *testing.T) {
	t.Parallel()
	inCall(t, func(t *testing.T, c *call) {
		c.caller.Close()
		c.callee.Close()
		c.offer, c.answer = nil, nil
		c.open()
		wide := func(can *sdp.Capabilities) { can.Codecs = []sdp.Codec{sdp.G722} }
		c.offer, c.answer = nil, nil
		c.negotiate(wide, wide)
		c.apply()
		go discard(c.caller)
		hear(t, c.callee, time.Second)
		c.negotiate(nil, nil)
		c.apply()
		if err := c.caller.Write(t.Context(), make([]int16, 320)); err != nil {
			t.Fatal(err)
		}
		for _, f := range hear(t, c.callee, time.Second) {
			if len(f.In) != 320 {
				t.Fatalf("a frame has %d samples", len(f.In))
			}
		}
		if c.callee.Rate() != 16000 || c.callee.Stats().Codec != "PCMU" {
			t.Errorf("rate %d, codec %s", c.callee.Rate(), c.callee.Stats().Codec)
		}
	})
}
