package rtpmedia_test

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
)

// attacker is the address of a host that can send to our ports but cannot decrypt packets.
var attacker = netip.MustParseAddrPort("203.0.113.66:6666")

func newCrypto(t testing.TB) sdp.Crypto {
	t.Helper()
	return sdp.Crypto{Tag: 1, Key: must(sdp.NewKey(rand.Reader))(t)}
}

func TestPrivateAddressInTheSDP(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		n.keep = true
		c := dial(t, n, nil)
		defer c.close()
		private := netip.MustParseAddrPort("10.0.0.9:4000")
		c.callers.RemoteRTP = private
		c.callers.RemoteRTCP = netip.AddrPortFrom(private.Addr(), 4001)
		c.apply()
		hear(t, c.callee, 200*ms)
		said := speech(8000)
		if !containsRun(talk(t, c, said), said) {
			t.Error("the callee does not hear the caller")
		}
		if wasted := len(n.recorded(private)); wasted > 3 {
			t.Errorf("%d packets went to the private address", wasted)
		}
		hear(t, c.callee, 20*time.Second)
		if c.callee.Stats().RoundTrip == 0 {
			t.Error("the reports did not find their way")
		}
	})
}

// TestWhereReportsGo checks that RTCP is sent to the port above the RTP port, until the peer's RTCP arrives from another port.
func TestWhereReportsGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		n.keep = true
		c := dial(t, n, nil)
		defer c.close()
		behind := netip.MustParseAddr("198.51.100.7")
		n.route = func(d *datagram) []time.Duration {
			if d.from.Addr() == c.calleAt.Addr() { // a NAT that maps RTP and RTCP to unrelated ports
				if d.from = netip.AddrPortFrom(behind, 7000); !d.rtp() {
					d.from = netip.AddrPortFrom(behind, 9999)
				}
			}
			return []time.Duration{ms}
		}
		c.callers.RemoteRTP = netip.MustParseAddrPort("10.0.0.9:4000")
		c.callers.RemoteRTCP = netip.MustParseAddrPort("10.0.0.9:4001")
		if err := c.callee.Apply(c.callees); err != nil {
			t.Fatal(err)
		}
		go discard(c.callee)
		time.Sleep(100 * ms)
		n.set(func() {
			keep := n.route
			n.route = func(d *datagram) []time.Duration {
				delays := keep(d)
				if d.from.Port() == 9999 {
					return []time.Duration{30 * time.Second}
				}
				return delays
			}
		})
		if err := c.caller.Apply(c.callers); err != nil {
			t.Fatal(err)
		}
		hear(t, c.caller, 20*time.Second)
		if sent := len(n.recorded(netip.AddrPortFrom(behind, 7001))); sent < 2 {
			t.Errorf("%d reports beside RTP", sent)
		}
		hear(t, c.caller, 40*time.Second)
		if sent := len(n.recorded(netip.AddrPortFrom(behind, 9999))); sent < 2 {
			t.Errorf("%d reports to where the peer's came from", sent)
		}
	})
}

func TestUnauthenticatedPacketsChangeNothing(t *testing.T) {
	t.Parallel()
	overheard(t, func(t *testing.T, c *call, n *network) {
		stop := make(chan struct{})
		defer close(stop)
		go flood(n, c.calleAt, stop)
		said := speech(16000)
		if !containsRun(talk(t, c, said), said) {
			t.Error("the audio is not exact under a flood")
		}
		hear(t, c.callee, 20*time.Second)
		if sent := len(n.recorded(attacker)); sent != 0 {
			t.Errorf("%d packets went to the attacker", sent)
		}
		if s := c.callee.Stats(); s.Bad < 20_000 || s.Lost+s.Late != 0 {
			t.Errorf("stats %+v", s)
		}
	})
}

// flood sends a forged RTP packet and a forged RTCP packet every millisecond, each time with another SSRC.
func flood(n *network, to netip.AddrPort, stop chan struct{}) {
	forged := make([]byte, 182)
	for i := uint32(0); ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(ms):
		}
		forged[0], forged[1] = 2<<6, 0
		binary.BigEndian.PutUint32(forged[8:], i)
		n.send(datagram{attacker, to, forged})
		forged[1] = 200
		binary.BigEndian.PutUint32(forged[4:], i)
		n.send(datagram{attacker, netip.AddrPortFrom(to.Addr(), to.Port()+1), forged})
	}
}

func TestReplayedPacketsChangeNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		n.keep = true
		n.route = func(d *datagram) []time.Duration {
			if d.from != attacker {
				go func() { // replays the datagram from the attacker's address after 5 ms, and twice later
					for _, later := range []time.Duration{5 * ms, 500 * ms, 3 * time.Second} {
						time.Sleep(later)
						n.deliver(datagram{attacker, d.to, d.bytes})
					}
				}()
			}
			return []time.Duration{ms}
		}
		c := dial(t, n, nil)
		c.apply()
		said := speech(16000)
		if !containsRun(talk(t, c, said), said) {
			t.Error("the audio is not exact")
		}
		hear(t, c.callee, 10*time.Second)
		if s := c.callee.Stats(); s.Bad+s.Lost+s.Late != 0 || s.Received > 660 {
			t.Errorf("stats %+v", s)
		}
		c.close()
		if sent := len(n.recorded(attacker)); sent != 0 {
			t.Errorf("%d packets went to the attacker", sent)
		}
		time.Sleep(5 * time.Second) // until the last replay has arrived
	})
}

func TestWrongKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		c := dial(t, n, nil)
		defer c.close()
		c.callees.RemoteCrypto = newCrypto(t)
		c.apply()
		go discard(c.caller)
		go func() { _ = c.caller.Write(context.Background(), speech(8000)) }()
		for _, s := range inbound(hear(t, c.callee, 2*time.Second)) {
			if s != 0 {
				t.Fatal("something was heard without the key")
			}
		}
		if s := c.callee.Stats(); s.Received != 0 || s.Bad < 95 {
			t.Errorf("stats %+v", s)
		}
		if d := silence(t, c.callee); d > 30*time.Second {
			t.Errorf("a peer with the wrong key counts as alive for %s", d)
		}
	})
}

func TestSameKeyKeepsItsKeyStream(t *testing.T) {
	t.Parallel()
	overheard(t, func(t *testing.T, c *call, n *network) {
		go discard(c.caller)
		for range 5 {
			hear(t, c.callee, time.Second)
			c.negotiate(nil, nil)
			c.apply()
		}
		packets := plain(t, n.recorded(c.calleAt), c.callers.LocalCrypto)
		for i, p := range packets {
			if p.SSRC != packets[0].SSRC || p.SequenceNumber != packets[0].SequenceNumber+uint16(i) {
				t.Fatalf("packet %d begins another stream under the same key", i)
			}
		}
		if s := c.callee.Stats(); s.Bad+s.Lost != 0 || s.Received < 245 {
			t.Errorf("stats %+v", s)
		}
	})
}

// TestChangeOfKey checks that a change of the caller's key is inaudible, although packets under the former key are still in transit.
func TestChangeOfKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		n.route = func(*datagram) []time.Duration { return []time.Duration{80 * ms} }
		c := dial(t, n, nil)
		defer c.close()
		c.apply()
		said := speech(8000 * 4)
		go discard(c.caller)
		go func() { _ = c.caller.Write(context.Background(), said) }()
		frames := hear(t, c.callee, time.Second)
		fresh := newCrypto(t)
		c.callees.RemoteCrypto, c.callers.LocalCrypto = fresh, fresh
		c.apply()
		frames = append(frames, hear(t, c.callee, 4*time.Second)...)
		if !containsRun(inbound(frames), said) {
			t.Error("the change of the key is heard")
		}
		if s := c.callee.Stats(); s.Bad+s.Lost+s.Late != 0 {
			t.Errorf("stats %+v", s)
		}
	})
}

// TestAnotherPeer checks that a change of both keys replaces the peer. The former peer, which continues to send, must neither be heard nor
// receive packets.
func TestAnotherPeer(t *testing.T) {
	t.Parallel()
	overheard(t, func(t *testing.T, c *call, n *network) {
		go func() { _ = c.callee.Write(context.Background(), speech(8000*60)) }()
		go discard(c.callee)
		hear(t, c.caller, time.Second)
		target := must(c.calleeM.Open(context.Background()))(t)
		defer target.Close()
		offer := must(sdp.Offer(sdp.Capabilities{Media: c.caller.Local(), Codecs: []sdp.Codec{sdp.PCMU}}))(t)
		reply, theirs, err := sdp.Answer(sdp.Capabilities{Media: target.Local(), Codecs: []sdp.Codec{sdp.PCMU}}, offer)
		if err != nil {
			t.Fatal(err)
		}
		ours := must(sdp.Accept(offer, reply))(t)
		if err := c.caller.Apply(ours); err != nil {
			t.Fatal(err)
		}
		before := len(n.recorded(c.calleAt))
		for i, f := range hear(t, c.caller, time.Second) { // the new peer does not send yet
			if i > 10 && slices.ContainsFunc(f.In, func(s int16) bool { return s != 0 }) {
				t.Fatal("the former peer is heard")
			}
		}
		if err := target.Apply(theirs); err != nil {
			t.Fatal(err)
		}
		said := speech(8000)
		go func() { _ = target.Write(context.Background(), said) }()
		go func() { _ = c.caller.Write(context.Background(), said) }()
		there := make(chan []sip.Frame, 1)
		go func() { there <- hear(t, target, 3*time.Second) }()
		heard := hear(t, c.caller, 3*time.Second)
		if !containsRun(inbound(heard), said) || !containsRun(inbound(<-there), said) {
			t.Error("the two do not hear each other exactly")
		}
		if sent := len(n.recorded(c.calleAt)) - before; sent > 1 { // one packet may have been in transit
			t.Errorf("%d packets went to the former peer", sent)
		}
		packets := n.recorded(target.Local())
		if first := binary.BigEndian.Uint16(packets[0].bytes[2:]); len(packets) < 100 || first >= 1<<15 {
			t.Errorf("%d packets from %d", len(packets), first)
		}
	})
}

// TestFormerKeyComesBackWithAnotherSource checks that a session changes its SSRC when it returns to a former key. Otherwise it would
// encrypt a sequence number twice with the same key stream.
func TestFormerKeyComesBackWithAnotherSource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		n.keep = true
		c := dial(t, n, nil)
		defer c.close()
		first, second := c.callers.LocalCrypto, newCrypto(t)
		for _, key := range []sdp.Crypto{first, second, first} {
			c.callees.RemoteCrypto, c.callers.LocalCrypto = key, key
			c.apply()
			go discard(c.caller)
			said := speech(8000)
			if !containsRun(talk(t, c, said), said) {
				t.Fatal("not heard exactly")
			}
		}
		sources := map[uint32]bool{}
		for _, d := range n.recorded(c.calleAt) {
			sources[binary.BigEndian.Uint32(d.bytes[8:])] = true
		}
		if len(sources) != 2 {
			t.Errorf("%d sources, want 2", len(sources))
		}
	})
}

func TestUnusableKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, newNetwork(), nil)
		defer c.close()
		for name, change := range map[string]func(*sdp.Negotiated){
			"none of ours":    func(n *sdp.Negotiated) { n.LocalCrypto = sdp.Crypto{} },
			"none of theirs":  func(n *sdp.Negotiated) { n.RemoteCrypto = sdp.Crypto{} },
			"the same twice":  func(n *sdp.Negotiated) { n.RemoteCrypto = n.LocalCrypto },
			"and no codec":    func(n *sdp.Negotiated) { n.Codec = sdp.G729 },
			"nor another one": func(n *sdp.Negotiated) { n.Codec = "" },
		} {
			changed := c.callers
			change(&changed)
			if err := c.caller.Apply(changed); callwright.CodeOf(err) == callwright.CodeInternal || err == nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if c.caller.Rate() != 8000 || c.caller.Stats().Codec != "" {
			t.Error("a refused change has changed something")
		}
		c.apply()
		said := speech(8000)
		if !containsRun(talk(t, c, said), said) {
			t.Error("the session does not work after refusals")
		}
	})
}
