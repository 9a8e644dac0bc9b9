package rtpmedia_test

import (
	"context"
	"math"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtcp"

	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/secure"
)

const ms = time.Millisecond

// talk lets the caller say the given audio. It returns the audio that the callee hears during that time and one more second.
func talk(t *testing.T, c *call, said []int16) []int16 {
	t.Helper()
	go discard(c.caller)
	go func() { _ = c.caller.Write(context.Background(), said) }()
	return inbound(hear(t, c.callee, time.Duration(len(said))*time.Second/8000+time.Second))
}

func TestPacketsOnTheWire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		n.keep = true
		c := dial(t, n, nil)
		c.apply()
		go discard(c.caller)
		hear(t, c.callee, 500*ms)
		if err := c.caller.Write(context.Background(), speech(160*10)); err != nil {
			t.Fatal(err)
		}
		hear(t, c.callee, time.Second)
		c.close()
		packets := plain(t, n.recorded(c.calleAt), c.callers.LocalCrypto)
		if len(packets) < 70 || packets[0].SequenceNumber >= 1<<15 {
			t.Fatalf("%d packets from %d", len(packets), packets[0].SequenceNumber)
		}
		var talking, before bool
		for i, p := range packets {
			first := packets[0]
			if p.SSRC != first.SSRC || p.SequenceNumber != first.SequenceNumber+uint16(i) ||
				p.Timestamp != first.Timestamp+uint32(i)*160 || p.PayloadType != 0 || len(p.Payload) != 160 {
				t.Fatalf("packet %d: %s", i, p)
			}
			before, talking = talking, !slices.Equal(p.Payload, make([]byte, 160))
			if p.Marker != (talking && !before) {
				t.Errorf("packet %d: marker %t", i, p.Marker)
			}
		}
	})
}

// TestBadNetwork checks a network that loses, duplicates and delays packets. Packets within the jitter buffer's delay must be played
// exactly, and lost packets must be counted.
func TestBadNetwork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		count, lost := 0, 0
		n.route = func(d *datagram) []time.Duration {
			if !d.rtp() || d.to.Addr() != netip.MustParseAddr("192.0.2.2") {
				return []time.Duration{ms}
			}
			count++
			delay := time.Duration(count*37%60) * ms
			switch {
			case count > 200 && count%25 == 0:
				lost++
				return nil
			case count%11 == 0:
				return []time.Duration{delay, delay + 10*ms}
			}
			return []time.Duration{delay}
		}
		c := dial(t, n, func(cfg *rtpmedia.Config) { cfg.Jitter = rtpmedia.Bounds{Least: 80 * ms, Most: 80 * ms} })
		defer c.close()
		c.apply()
		hear(t, c.callee, time.Second) // the jitter buffer must learn the fastest transit first
		said := speech(8000)
		if heard := talk(t, c, said); !containsRun(heard, said) { // the network does not lose packets yet
			t.Error("reordered and doubled packets are not heard exactly")
		}
		hear(t, c.callee, 20*time.Second)
		s, missing := c.callee.Stats(), 0
		n.set(func() { missing = lost })
		if s.Late+s.Bad != 0 || math.Abs(float64(s.Lost)-float64(missing)) > 2 {
			t.Errorf("lost %d; %+v", missing, s)
		}
		if s.Jitter < 10*ms || s.Jitter > 30*ms {
			t.Errorf("jitter %s", s.Jitter)
		}
	})
}

// TestLongCall checks that the audio of a call is still on time and exact after half an hour, in which the sequence numbers wrap around.
func TestLongCall(t *testing.T) {
	t.Parallel()
	inCall(t, func(t *testing.T, c *call) {
		go discard(c.caller)
		start := time.Now()
		for range 30 * 60 * 50 {
			if _, err := c.callee.Read(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(start) - 30*time.Minute; d.Abs() > 40*ms {
			t.Errorf("off by %s after half an hour", d)
		}
		said := speech(4000)
		go func() { _ = c.caller.Write(context.Background(), said) }()
		if !containsRun(inbound(hear(t, c.callee, time.Second)), said) {
			t.Error("after half an hour the audio is not exact")
		}
		if s := c.callee.Stats(); s.Lost+s.Late+s.Bad != 0 || s.Received < 90_000 {
			t.Errorf("stats %+v", s)
		}
	})
}

func TestReports(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		n.keep = true
		count := 0
		n.route = func(d *datagram) []time.Duration {
			if d.rtp() && d.to.Addr() == netip.MustParseAddr("192.0.2.2") {
				if count++; count%4 == 0 {
					return nil
				}
			}
			return []time.Duration{25 * ms}
		}
		c := dial(t, n, nil)
		c.apply()
		go discard(c.callee)
		hear(t, c.caller, 2*time.Minute)
		s := c.caller.Stats()
		if math.Abs(s.PeerLost-0.25) > 0.03 || (s.RoundTrip-50*ms).Abs() > 2*ms {
			t.Errorf("peer lost %.2f, round trip %s", s.PeerLost, s.RoundTrip)
		}
		if s := c.callee.Stats(); s.PeerLost != 0 || (s.RoundTrip-50*ms).Abs() > 2*ms || s.Lost < 1490 || s.Lost > 1510 {
			t.Errorf("callee: %+v", s)
		}
		c.close()
		control := netip.AddrPortFrom(c.calleAt.Addr(), c.calleAt.Port()+1)
		reports := n.recorded(control)
		if len(reports) < 20 || len(reports) > 45 {
			t.Errorf("%d reports in two minutes", len(reports))
		}
		var opener secure.Opener
		if err := opener.Use(0, c.callers.LocalCrypto); err != nil {
			t.Fatal(err)
		}
		for i, d := range reports {
			raw, err := opener.RTCP(0, d.bytes)
			if err != nil {
				t.Fatalf("report %d: %v", i, err)
			}
			var compound rtcp.CompoundPacket
			if err := compound.Unmarshal(raw); err != nil {
				t.Fatalf("report %d: %v", i, err)
			}
			_, bye := compound[len(compound)-1].(*rtcp.Goodbye)
			if _, sender := compound[0].(*rtcp.SenderReport); !sender || bye != (i == len(reports)-1) {
				t.Errorf("report %d: %v", i, compound)
			}
		}
	})
}
