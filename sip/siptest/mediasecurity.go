package siptest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
)

// holdsAndGoesOn puts the caller on hold and resumes the call. During the hold, the caller must not play or send audio. Afterwards its
// stream must continue under the same key, with the same SSRC and without a gap in the sequence numbers.
func holdsAndGoesOn(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	c.apply()
	c.hears(c.caller, c.callee, sdp.PCMU)
	key := c.callers.LocalCrypto.Key
	c.negotiate(nil, func(can *sdp.Capabilities) { can.Hold = true })
	c.apply()
	stop := listen(c.callee)
	c.until(c.caller, "the hold", func(f sip.Frame) bool { return f.OnHold })
	c.pass(c.caller, 25) // until all packets in flight have arrived
	before := len(c.net.rtp.to(true))
	if err := c.caller.Write(context.Background(), make([]int16, 800)); err != nil {
		t.Fatal(err)
	}
	frames := 0
	c.until(c.caller, "frames during the hold", func(f sip.Frame) bool {
		if !f.OnHold || f.Out != nil {
			t.Fatal("a frame during the hold is not held, or something was played in it")
		}
		frames++
		return frames == 25
	})
	if sent := len(c.net.rtp.to(true)) - before; sent != 0 || c.caller.Queued() != 800 {
		t.Errorf("during the hold %d packets were sent, and %d samples wait of 800", sent, c.caller.Queued())
	}
	stop()
	c.hears(c.callee, c.caller, sdp.PCMU) // music on hold
	c.negotiate(nil, nil)
	c.apply()
	stop = listen(c.callee)
	c.until(c.caller, "the end of the hold", func(f sip.Frame) bool { return !f.OnHold && c.caller.Queued() == 0 })
	stop()
	c.hears(c.caller, c.callee, sdp.PCMU)
	if !c.callers.LocalCrypto.Key.Equal(key) {
		t.Fatal("the offer during the hold has changed the key")
	}
	var last []byte
	for _, p := range c.net.rtp.to(true) {
		if last != nil && (!bytes.Equal(p[8:12], last[8:12]) ||
			binary.BigEndian.Uint16(p[2:]) != binary.BigEndian.Uint16(last[2:])+1) {
			t.Fatalf("after the packet %x comes %x under the same key", last[:12], p[:12])
		}
		last = p
	}
}

func changesCodec(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	c.apply()
	c.hears(c.caller, c.callee, sdp.PCMU)
	only := func(can *sdp.Capabilities) { can.Codecs = []sdp.Codec{sdp.PCMA} }
	c.negotiate(only, only)
	if err := c.callee.Apply(c.callees); err != nil {
		t.Fatalf("applying another codec: %v", err)
	}
	c.hears(c.caller, c.callee, sdp.PCMU) // before the caller receives the answer
	c.apply()
	c.hears(c.caller, c.callee, sdp.PCMA)
	c.hears(c.callee, c.caller, sdp.PCMA)
	if stats := c.callee.Stats(); stats.Codec != "PCMA" {
		t.Errorf("the statistics are %+v", stats)
	}
}

// hearsOthers switches the caller from PCMU to PCMA and back without signaling. The callee must decode both, because both were negotiated.
func hearsOthers(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	both := func(can *sdp.Capabilities) { can.Codecs = []sdp.Codec{sdp.PCMU, sdp.PCMA} }
	c.offer, c.answer = nil, nil
	c.negotiate(both, both)
	c.apply()
	for _, codec := range []sdp.Codec{sdp.PCMU, sdp.PCMA, sdp.PCMU} {
		c.send(codec)
		c.hears(c.caller, c.callee, codec)
	}
	if stats := c.callee.Stats(); stats.Codec != "PCMU" || stats.Fault != "" {
		t.Errorf("the statistics are %+v", stats)
	}
}

// send switches the caller to another codec under the codec's static payload type, without signaling.
func (c *mediaCall) send(codec sdp.Codec) {
	c.t.Helper()
	own := c.callers
	own.Codec, own.Others, own.Payload.Send = codec, nil, map[sdp.Codec]uint8{sdp.PCMU: 0, sdp.PCMA: 8}[codec]
	if err := c.caller.Apply(own); err != nil {
		c.t.Fatal(err)
	}
}

// namesFault sends a codec that was not negotiated. The receiver must report sip.FaultUndecodable.
func namesFault(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	c.apply()
	c.hears(c.caller, c.callee, sdp.PCMU)
	c.send(sdp.PCMA)
	stop := listen(c.caller)
	defer stop()
	c.until(c.callee, "the fault", func(sip.Frame) bool {
		return strings.HasPrefix(c.callee.Stats().Fault, sip.FaultUndecodable)
	})
	if fault := c.caller.Stats().Fault; fault != "" {
		t.Errorf("the caller, who hears everything, has the fault %q", fault)
	}
}

func refusesPlainMedia(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	for name, change := range map[string]func(*sdp.Negotiated){
		"no key of ours":       func(n *sdp.Negotiated) { n.LocalCrypto = sdp.Crypto{} },
		"no key of theirs":     func(n *sdp.Negotiated) { n.RemoteCrypto = sdp.Crypto{} },
		"one key for both":     func(n *sdp.Negotiated) { n.RemoteCrypto = n.LocalCrypto },
		"a codec that is none": func(n *sdp.Negotiated) { n.Codec = "none" },
	} {
		changed := c.callers
		change(&changed)
		if err := c.caller.Apply(changed); err == nil || callwright.CodeOf(err) == callwright.CodeInternal {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c.caller.Rate() != 8000 || c.caller.Stats() != (sip.MediaStats{}) {
		t.Errorf("what was refused has changed the session: %+v", c.caller.Stats())
	}
	c.apply()
	c.hears(c.caller, c.callee, sdp.PCMU)
	plain := c.callers
	plain.LocalCrypto, plain.RemoteCrypto = sdp.Crypto{}, sdp.Crypto{}
	if err := c.caller.Apply(plain); err == nil || callwright.CodeOf(err) == callwright.CodeInternal {
		t.Errorf("no keys in the middle of a call: %v", err)
	}
	c.hears(c.caller, c.callee, sdp.PCMU)
}

// srtpOverhead is the size, in bytes, of the RTP header and the authentication tag of AES_CM_128_HMAC_SHA1_80.
const srtpOverhead = 12 + 10

func sendsNothingClear(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	c.apply()
	c.hears(c.caller, c.callee, sdp.PCMU)
	c.hears(c.callee, c.caller, sdp.PCMU)
	engine, err := c.Codecs("PCMU")
	if err != nil {
		t.Fatal(err)
	}
	said, _ := c.spoken(sdp.PCMU, 10)
	payloads := [][]byte{encode(t, engine, make([]int16, 160))}
	for frame := range slices.Chunk(said, 160) {
		payloads = append(payloads, encode(t, engine, frame))
	}
	for _, p := range slices.Concat(c.net.rtp.to(true), c.net.rtp.to(false)) {
		if len(p) != srtpOverhead+160 {
			t.Fatalf("a packet of 160 bytes of audio has %d bytes, not %d", len(p), srtpOverhead+160)
		}
		for _, payload := range payloads {
			if bytes.Contains(p, payload[:16]) {
				t.Fatal("a packet has audio in the clear")
			}
		}
	}
}

func newKey(t testing.TB) sdp.Crypto {
	t.Helper()
	key, err := sdp.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return sdp.Crypto{Tag: 1, Key: key}
}

func hearsNoOtherKey(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	c.callees.RemoteCrypto = newKey(t)
	c.apply()
	stop := listen(c.caller)
	defer stop()
	said, _ := c.spoken(sdp.PCMU, 10)
	if err := c.caller.Write(context.Background(), said); err != nil {
		t.Fatal(err)
	}
	c.until(c.callee, "packets under another key", func(f sip.Frame) bool {
		if slices.ContainsFunc(f.In, func(s int16) bool { return s != 0 }) {
			t.Fatal("something is heard without the key")
		}
		return c.callee.Stats().Bad >= 50
	})
	if stats := c.callee.Stats(); stats.Received != 0 {
		t.Errorf("the statistics are %+v", stats)
	}
}

// ignoresHostility attacks both ports of the callee from a third address during a call. It sends noise, replayed packets, and truncated and
// altered copies of genuine packets. The call must continue, and the attacker must receive no packet.
func ignoresHostility(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	c.apply()
	c.hears(c.caller, c.callee, sdp.PCMU)
	var answered atomic.Int64
	attacker := open(t, m, func([]byte, netip.AddrPort) { answered.Add(1) })
	rtp := c.callee.Local()
	rtcp := netip.AddrPortFrom(rtp.Addr(), rtp.Port()+1)
	attack := func(packet []byte) {
		for _, to := range []netip.AddrPort{rtp, rtcp} {
			_, _ = attacker.WriteToUDPAddrPort(packet, to)
		}
	}
	received := c.callee.Stats().Received
	for n := range 60 {
		noise := make([]byte, n*25)
		_, _ = rand.Read(noise) // never fails, according to its documentation
		attack(noise)
		if len(noise) > 1 {
			noise[0], noise[1] = 2<<6, 0 // the first bytes of an RTP packet
			attack(noise)
			noise[1] = 200 // the first bytes of an RTCP packet
			attack(noise)
		}
	}
	genuine := c.net.rtp.to(true)
	for n, packet := range genuine[:min(len(genuine), 40)] {
		attack(packet)
		attack(packet[:len(packet)/2])
		forged := slices.Clone(packet)
		forged[n*len(forged)/40] ^= 1
		attack(forged)
	}
	c.hears(c.caller, c.callee, sdp.PCMU)
	c.hears(c.callee, c.caller, sdp.PCMU)
	stats := c.callee.Stats()
	if sent := uint64(len(c.net.rtp.to(true))); stats.Received > sent || stats.Received < received || stats.Bad == 0 {
		t.Errorf("%d packets were sent, and the statistics are %+v", sent, stats)
	}
	if n := answered.Load(); n != 0 {
		t.Errorf("%d packets went to the attacker", n)
	}
}

// sparesTheUnheard delivers no packets to the caller for some time. Until the caller receives a packet, it must send few packets to the
// peer's address and keep the queued audio. A new description with the same address must not change this.
func sparesTheUnheard(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	c.net.rtp.set(func(toB bool, _ int, packet []byte) [][]byte {
		if toB {
			return [][]byte{packet}
		}
		return nil
	})
	c.net.rtcp.set(lose)
	stop := listen(c.callee)
	c.apply()
	said, heard := c.spoken(sdp.PCMU, 150)
	writing := make(chan error, 1)
	go func() { writing <- c.caller.Write(context.Background(), said) }()
	lasts := 3 * time.Second
	if m.Bubble {
		lasts = 25 * time.Second
	}
	var elapsed time.Duration
	c.until(c.caller, "a while", func(f sip.Frame) bool {
		elapsed = f.Elapsed
		return elapsed >= lasts/2
	})
	c.negotiate(nil, nil)
	c.apply()
	c.until(c.caller, "a while", func(f sip.Frame) bool {
		elapsed = f.Elapsed
		return elapsed >= lasts
	})
	most := 50 + int(elapsed/time.Second) + 1
	if n := len(c.net.rtp.to(true)); n > most || n < 50 {
		t.Errorf("%d packets in %s before the peer was heard, not 50 to %d", n, elapsed, most)
	}
	if n := c.caller.Queued(); n < 90*160 {
		t.Errorf("%d samples wait, most of %d should", n, len(said))
	}
	stop()
	c.net.rtp.set(nil)
	last := heard[len(heard)-1]
	stop = listen(c.caller)
	c.until(c.callee, "the rest of what was said", func(f sip.Frame) bool { return slices.Equal(f.In, last) })
	stop()
	if err := <-writing; err != nil {
		t.Error(err)
	}
	c.hears(c.caller, c.callee, sdp.PCMU)
}

// reportsOnCall checks the statistics that RTCP reports provide. It requires a bubble, because the reports are seconds apart and the test
// lasts two minutes.
func reportsOnCall(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	c.apply()
	c.hears(c.caller, c.callee, sdp.PCMU)
	c.hears(c.callee, c.caller, sdp.PCMU)
	if !m.Bubble {
		return
	}
	c.net.rtp.set(func(toB bool, n int, packet []byte) [][]byte {
		if toB && n%4 == 0 {
			return nil
		}
		return [][]byte{packet}
	})
	stop := listen(c.callee)
	defer stop()
	for range 6 {
		c.pass(c.caller, 1000) // 20 s
	}
	stats := c.caller.Stats()
	if stats.PeerLost < 0.2 || stats.PeerLost > 0.3 || stats.RoundTrip <= 0 || stats.RoundTrip > time.Second {
		t.Errorf("of four packets one is lost, and the statistics are %+v", stats)
	}
	if stats := c.callee.Stats(); stats.PeerLost != 0 || stats.Lost < 1000 {
		t.Errorf("of four packets one is lost, and the statistics are %+v", stats)
	}
}

// noticesDeadPeer checks that Read returns an error when the peer is silent for too long, on hold and otherwise. It requires a bubble,
// because the limits are up to 30 minutes: see sip.ErrMediaTimeout.
func noticesDeadPeer(t *testing.T, m MediaSetup) {
	if !m.Bubble {
		return
	}
	c := newMediaCall(t, m)
	stop := listen(c.callee)
	defer stop()
	c.net.rtp.set(lose)
	c.net.rtcp.set(lose)
	c.apply()
	c.timesOut(30*time.Second, "before the first packet")
	c.comesBack()
	c.negotiate(func(can *sdp.Capabilities) { can.Hold = true }, nil)
	c.apply()
	c.net.rtp.set(lose)
	for range 5 * 60 * 50 {
		if _, err := c.caller.Read(context.Background()); err != nil {
			t.Fatalf("on hold: %v", err)
		}
	}
	c.net.rtp.set(nil)
	c.negotiate(nil, nil)
	c.apply()
	c.pass(c.caller, 50)
	c.net.rtp.set(lose)
	c.timesOut(15*time.Second, "after a packet")
	c.comesBack()
	c.negotiate(nil, func(can *sdp.Capabilities) { can.Hold = true })
	c.apply()
	c.pass(c.caller, 50)
	c.net.rtp.set(lose)
	c.timesOut(30*time.Minute, "on hold")
}

// comesBack lets the callee's packets pass again, and checks that the caller's Read succeeds within a second.
func (c *mediaCall) comesBack() {
	c.t.Helper()
	c.net.rtp.set(nil)
	for resumed := time.Now(); ; <-time.After(mediaFrame) {
		_, err := c.caller.Read(context.Background())
		if err == nil {
			return
		}
		if !errors.Is(err, sip.ErrMediaTimeout) || time.Since(resumed) > time.Second {
			c.t.Fatalf("a peer that has come back: %v", err)
		}
	}
}

// timesOut reads the caller's session until Read reports that the peer is dead, and checks that this takes about the time in the parameter
// want. Descriptions that are applied again in the meantime must not extend the wait.
func (c *mediaCall) timesOut(want time.Duration, when string) {
	c.t.Helper()
	begin := time.Now()
	for renewed := begin; time.Since(begin) < 2*want; {
		_, err := c.caller.Read(context.Background())
		if errors.Is(err, sip.ErrMediaTimeout) {
			break
		}
		if err != nil {
			c.t.Fatal(err)
		}
		if time.Since(renewed) > 7*time.Second {
			renewed = time.Now()
			c.apply()
		}
	}
	if took := time.Since(begin); took < want-time.Second || took > want+time.Second {
		c.t.Errorf("%s a peer counts as dead after %v, not %v", when, took, want)
	}
}

// trustsTheProven is sparesTheUnheard with an address that the signaling has proven. All audio must be sent without delay.
func trustsTheProven(t *testing.T, m MediaSetup) {
	c := newMediaCall(t, m)
	c.callers.Proven = c.callers.RemoteRTP.Addr()
	c.net.rtp.set(func(toB bool, _ int, packet []byte) [][]byte {
		if toB {
			return [][]byte{packet}
		}
		return nil
	})
	c.net.rtcp.set(lose)
	c.apply()
	said, heard := c.spoken(sdp.PCMU, 150)
	go func() { _ = c.caller.Write(context.Background(), said) }()
	stop := listen(c.caller)
	defer stop()
	c.until(c.callee, "the last of what is said", func(f sip.Frame) bool { return slices.Equal(f.In, heard[len(heard)-1]) })
	if n := len(c.net.rtp.to(true)); n < 140 {
		t.Errorf("%d packets for three seconds", n)
	}
}
