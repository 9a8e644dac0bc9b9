package rtpmedia_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/adapters/codec/g711"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
	"github.com/callwright/callwright/sip/sdp"
)

func TestAudioArrivesSampleExact(t *testing.T) {
	t.Parallel()
	inCall(t, func(t *testing.T, c *call) {
		said := speech(8000 * 2)
		go discard(c.caller)
		go func() { _ = c.caller.Write(context.Background(), said) }()
		frames := hear(t, c.callee, 3*time.Second)
		if !containsRun(inbound(frames), said) {
			t.Fatal("what was said is not in what was heard")
		}
		if !slices.Equal(frames[0].In, make([]int16, 160)) {
			t.Error("the first frame is not silence")
		}
		for i, f := range frames {
			if want := time.Duration(i) * 20 * time.Millisecond; f.Elapsed != want || len(f.In) != 160 || f.OnHold {
				t.Fatalf("frame %d: elapsed %s, want %s; %d samples; held %t", i, f.Elapsed, want, len(f.In), f.OnHold)
			}
		}
		if s := c.callee.Stats(); s.Lost+s.Late+s.Bad != 0 || s.Received < 148 || s.Sent < 148 || s.Codec != "PCMU" {
			t.Errorf("stats %+v", s)
		}
	})
}

// g711s contains the real codecs, in contrast to the test codecs of call_test.go.
var g711s = codec.Set{g711.PCMU(), g711.PCMA()}

// TestG711 checks that received audio equals the output of the real codecs, sample for sample.
func TestG711(t *testing.T) {
	t.Parallel()
	for _, name := range []sdp.Codec{sdp.PCMU, sdp.PCMA} {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := dial(t, newNetwork(), func(cfg *rtpmedia.Config) { cfg.Codecs = g711s.New })
				defer c.close()
				only := func(can *sdp.Capabilities) { can.Codecs = []sdp.Codec{name} }
				c.offer, c.answer = nil, nil
				c.negotiate(only, only)
				c.apply()
				said := make([]int16, 8000)
				for i := range said {
					said[i] = int16(i*i%20000 - 10000)
				}
				engine := must(g711s.New(string(name)))(t)
				payload := must(engine.Encode(nil, said))(t)
				if !containsRun(talk(t, c, said), must(engine.Decode(nil, payload))(t)) {
					t.Error("not heard exactly")
				}
			})
		})
	}
}

// TestPeerChangesCodec checks that a peer may change between PCMU and PCMA during a call if the answer contains both, and that otherwise
// the other codec is not heard.
func TestPeerChangesCodec(t *testing.T) {
	t.Parallel()
	for _, agreed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := dial(t, newNetwork(), func(cfg *rtpmedia.Config) { cfg.Codecs = g711s.New })
			defer c.close()
			c.offer, c.answer = nil, nil
			both := func(can *sdp.Capabilities) { can.Codecs = []sdp.Codec{sdp.PCMU, sdp.PCMA} }
			if agreed {
				c.negotiate(both, both)
			} else {
				c.negotiate(both, nil)
			}
			c.apply()
			said := speech(8000)
			for _, name := range []sdp.Codec{sdp.PCMA, sdp.PCMU, sdp.PCMA} {
				// Only the caller changes its codec. The callee's parameters stay.
				c.callers.Codec, c.callers.Others = name, nil
				c.callers.Payload.Send = map[sdp.Codec]uint8{sdp.PCMU: 0, sdp.PCMA: 8}[name]
				if err := c.caller.Apply(c.callers); err != nil {
					t.Fatal(err)
				}
				engine := must(g711s.New(string(name)))(t)
				want := must(engine.Decode(nil, must(engine.Encode(nil, said))(t)))(t)
				if heard := containsRun(talk(t, c, said), want); heard != (agreed || name == sdp.PCMU) {
					t.Errorf("agreed %t, %s: heard %t", agreed, name, heard)
				}
			}
		})
	}
}

// containsRun reports whether whole contains part without a gap.
func containsRun(whole, part []int16) bool {
	for i := 0; i+len(part) <= len(whole); i++ {
		if slices.Equal(whole[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

func TestReadEndsWithClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, newNetwork(), nil)
		c.apply()
		hear(t, c.callee, time.Second)
		c.close()
		c.close()
		if _, err := c.callee.Read(context.Background()); !errors.Is(err, io.EOF) {
			t.Errorf("got %v", err)
		}
		if _, err := c.caller.Read(context.Background()); !errors.Is(err, io.EOF) {
			t.Errorf("got %v", err)
		}
	})
}
