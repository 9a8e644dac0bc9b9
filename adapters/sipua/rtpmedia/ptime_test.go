package rtpmedia_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
	"github.com/callwright/callwright/sip/sdp"
)

// TestPacketTimes checks that packets contain the duration of audio that the peer requests. The audio must arrive exactly, also before and
// after digits, and the timestamps must count every sample.
func TestPacketTimes(t *testing.T) {
	t.Parallel()
	for _, ptime := range []time.Duration{0, 10 * ms, 20 * ms, 30 * ms, 40 * ms, 60 * ms} {
		t.Run(ptime.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork()
				n.keep = true
				c := dial(t, n, nil)
				c.callers.Ptime = ptime
				c.apply()
				said := speech(8000)
				if !containsRun(talk(t, c, said), said) {
					t.Error("what is said is not heard exactly")
				}
				go func() {
					_ = c.caller.Write(context.Background(), said)
					_ = c.caller.SendDTMF(context.Background(), "12")
					_ = c.caller.Write(context.Background(), said)
				}()
				frames := hear(t, c.callee, 4*time.Second)
				heard := inbound(frames)
				if !containsRun(heard[:12000], said) || !containsRun(heard[8000:], said) || digits(frames) != "12" {
					t.Errorf("around the digits %q the audio is not exact", digits(frames))
				}
				c.close()
				checkPacketTimes(t, c, n, cmp.Or(ptime, 20*ms))
			})
		})
	}
}

// checkPacketTimes checks the size, the number, the timestamps and the markers of the caller's audio packets. A packet before an event or a
// pause may be shorter than ptime.
func checkPacketTimes(t *testing.T, c *call, n *network, ptime time.Duration) {
	t.Helper()
	want := int(ptime/ms) * 8
	whole, marks := 0, 0
	next := uint32(0) // expected timestamp; 0 after a digit
	for i, p := range plain(t, n.recorded(c.calleAt), c.callers.LocalCrypto) {
		if p.PayloadType != 0 {
			next = 0
			continue
		}
		if len(p.Payload) == want {
			whole++
		}
		if len(p.Payload) > want || next != 0 && p.Timestamp != next {
			t.Fatalf("packet %d has %d bytes at %d, expected at %d", i, len(p.Payload), p.Timestamp, next)
		}
		if p.Marker {
			marks++
		}
		next = p.Timestamp + uint32(len(p.Payload))
	}
	if least := int(5 * time.Second / ptime); whole < least || marks != 3 {
		t.Errorf("%d packets of %s, want %d; %d begin speech", whole, ptime, least, marks)
	}
}

// TestShortPacketsAreRationed checks that the allowance for an unproven address counts each of the two packets of a frame.
func TestShortPacketsAreRationed(t *testing.T) {
	t.Parallel()
	c := dial(t, newNetwork(), nil)
	t.Cleanup(c.close)
	rtpmedia.Unpaced(c.caller)
	c.callers.Ptime = 10 * ms
	if err := c.caller.Apply(c.callers); err != nil {
		t.Fatal(err)
	}
	sent := 0
	for i := range int64(250) {
		sent += rtpmedia.Packets(c.caller, time.Duration(i)*20*ms, i)
	}
	if sent < 50 || sent > 50+5 {
		t.Errorf("%d packets in five seconds", sent)
	}
}

// TestNegotiatedPacketTimes checks that each side negotiates the packet duration that the other side requests.
func TestNegotiatedPacketTimes(t *testing.T) {
	t.Parallel()
	c := dial(t, newNetwork(), nil)
	t.Cleanup(c.close)
	for _, ptime := range []time.Duration{10 * ms, 30 * ms, 60 * ms} {
		c.offer, c.answer = nil, nil
		c.negotiate(func(can *sdp.Capabilities) { can.Ptime = ptime }, func(can *sdp.Capabilities) { can.Ptime = 40 * ms })
		if got := []time.Duration{c.callees.Ptime, c.callers.Ptime}; !slices.Equal(got, []time.Duration{ptime, 40 * ms}) {
			t.Error(fmt.Sprint("asked for ", ptime, " and 40ms, sent ", got))
		}
	}
}
