package rtpmedia_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
)

// linear8 is a test codec that encodes the upper byte of each sample, so that multiples of 256 are transmitted exactly.
type linear8 struct{ name string }

func (c linear8) Name() string { return c.name }
func (linear8) Rate() int      { return 8000 }
func (linear8) Clock() int     { return 8000 }

func (linear8) Encode(dst []byte, pcm []int16) ([]byte, error) {
	for _, s := range pcm {
		dst = append(dst, byte(s>>8))
	}
	return dst, nil
}

func (linear8) Decode(dst []int16, payload []byte) ([]int16, error) {
	if len(payload) > 0 && payload[0] == 0x7f {
		return dst, errors.New("not a payload")
	}
	for _, b := range payload {
		dst = append(dst, int16(int8(b))<<8)
	}
	return dst, nil
}

// wide8 is linear8 with a sample rate of 16 kHz and an RTP clock of 8 kHz, like G722.
type wide8 struct{ linear8 }

func (wide8) Rate() int { return 16000 }

// full8 is linear8 with a sample rate and an RTP clock of 48 kHz.
type full8 struct{ linear8 }

func (full8) Rate() int  { return 48000 }
func (full8) Clock() int { return 48000 }

func codecs(name string) (sip.Codec, error) {
	switch name {
	case "OPUS":
		return full8{linear8{name}}, nil
	case "PCMU", "PCMA":
		return linear8{name}, nil
	case "G722":
		return wide8{linear8{name}}, nil
	}
	return nil, callwright.ErrUnavailable
}

// call holds the two sessions of a call and their negotiated parameters.
type call struct {
	t                 testing.TB
	caller, callee    sip.MediaSession
	offer, answer     *sdp.Description
	callers, callees  sdp.Negotiated
	callerM, calleeM  *rtpmedia.Media
	callerAt, calleAt netip.AddrPort
}

// dial opens two sessions on a network and negotiates their parameters, but does not apply them.
func dial(t testing.TB, n *network, change func(*rtpmedia.Config)) *call {
	t.Helper()
	cfg := rtpmedia.Config{
		IP: netip.MustParseAddr("192.0.2.1"), Ports: rtpmedia.PortRange{Low: 10000, High: 10099}, Codecs: codecs,
	}
	if change != nil {
		change(&cfg)
	}
	c := &call{t: t}
	c.callerM = must(rtpmedia.NewOn(cfg, n.listen))(t)
	cfg.IP = netip.MustParseAddr("192.0.2.2")
	c.calleeM = must(rtpmedia.NewOn(cfg, n.listen))(t)
	c.open()
	return c
}

// inCall runs a test with the fake clock of synctest, during a call on a network without faults.
func inCall(t *testing.T, test func(t *testing.T, c *call)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, newNetwork(), nil)
		defer c.close()
		c.apply()
		test(t, c)
	})
}

// overheard does the same as inCall, on a network that records every datagram.
func overheard(t *testing.T, test func(t *testing.T, c *call, n *network)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		n.keep = true
		c := dial(t, n, nil)
		defer c.close()
		c.apply()
		test(t, c, n)
	})
}

func (c *call) open() {
	c.t.Helper()
	c.caller = must(c.callerM.Open(context.Background()))(c.t)
	c.callee = must(c.calleeM.Open(context.Background()))(c.t)
	c.callerAt, c.calleAt = c.caller.Local(), c.callee.Local()
	c.negotiate(nil, nil)
}

// negotiate creates an offer and an answer. caller and callee may change the capabilities of their side, and may be nil.
func (c *call) negotiate(caller, callee func(*sdp.Capabilities)) {
	c.t.Helper()
	capable := func(s sip.MediaSession, previous *sdp.Description, change func(*sdp.Capabilities)) sdp.Capabilities {
		can := sdp.Capabilities{Media: s.Local(), Codecs: []sdp.Codec{sdp.PCMU}, Previous: previous}
		if change != nil {
			change(&can)
		}
		return can
	}
	var err error
	if c.offer, err = sdp.Offer(capable(c.caller, c.offer, caller)); err != nil {
		c.t.Fatal(err)
	}
	if c.answer, c.callees, err = sdp.Answer(capable(c.callee, c.answer, callee), c.offer); err != nil {
		c.t.Fatal(err)
	}
	if c.callers, err = sdp.Accept(c.offer, c.answer); err != nil {
		c.t.Fatal(err)
	}
}

// apply applies the negotiated parameters to both sessions.
func (c *call) apply() {
	c.t.Helper()
	if err := errors.Join(c.callee.Apply(c.callees), c.caller.Apply(c.callers)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *call) close() {
	if err := errors.Join(c.caller.Close(), c.callee.Close()); err != nil {
		c.t.Error(err)
	}
}

// must returns a function that returns v, or fails the test if err is not nil.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// speech returns n samples. Within 4 s, any two frames of 20 ms differ. No frame is silent, and all samples are multiples of 256.
func speech(n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(int8((i/160*37+i%160*11)%200-100)|1) << 8
	}
	return pcm
}

// hear reads the frames of a session for the duration d.
func hear(t testing.TB, s sip.MediaSession, d time.Duration) []sip.Frame {
	t.Helper()
	var frames []sip.Frame
	for range int(d / (20 * time.Millisecond)) {
		f, err := s.Read(context.Background())
		if err != nil {
			t.Fatalf("after %d frames: %v", len(frames), err)
		}
		f.In, f.Out = append([]int16(nil), f.In...), append([]int16(nil), f.Out...)
		frames = append(frames, f)
	}
	return frames
}

// inbound concatenates the received audio of the frames.
func inbound(frames []sip.Frame) []int16 {
	var pcm []int16
	for _, f := range frames {
		pcm = append(pcm, f.In...)
	}
	return pcm
}

func digits(frames []sip.Frame) string {
	var text []byte
	for _, f := range frames {
		if f.Digit != 0 {
			text = append(text, f.Digit)
		}
	}
	return string(text)
}

// discard reads from a session until it is closed, so that its frames do not accumulate.
func discard(s sip.MediaSession) {
	for {
		if _, err := s.Read(context.Background()); err != nil {
			return
		}
	}
}
