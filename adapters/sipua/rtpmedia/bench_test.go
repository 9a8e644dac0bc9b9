package rtpmedia_test

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/secure"
)

// lively returns a call whose sessions are driven by calls of Tick instead of their pacers.
func lively(b *testing.B) *call {
	b.Helper()
	c := connect(b, newMedia(b, func(cfg *rtpmedia.Config) { cfg.Codecs = g711s.New }))
	b.Cleanup(c.close)
	rtpmedia.Unpaced(c.caller)
	rtpmedia.Unpaced(c.callee)
	c.apply()
	return c
}

// refill adds speech to the caller's queue when less than a frame is left, so that each frame contains speech.
func refill(c *call, said []int16) error {
	if c.caller.Queued() >= 160 {
		return nil
	}
	ended, cancel := context.WithCancel(context.Background())
	defer cancel()
	return c.caller.Write(ended, said)
}

// BenchmarkFrame measures one frame through both sessions without sockets: encoding, encryption, decryption, jitter buffer and decoding. It
// includes the callee's packet of silence, because a tick handles both directions.
func BenchmarkFrame(b *testing.B) {
	c, said, frame := lively(b), speech(1600), int64(0)
	b.ReportAllocs()
	for b.Loop() {
		if err := refill(c, said); err != nil {
			b.Fatal(err)
		}
		now := time.Duration(frame) * 20 * time.Millisecond
		packet := rtpmedia.Tick(c.caller, now, frame)
		rtpmedia.Inject(c.callee, 0, packet, c.callerAt)
		rtpmedia.Tick(c.callee, now, frame)
		frame++
	}
	if s := c.callee.Stats(); s.Lost+s.Bad != 0 {
		b.Fatalf("stats %+v", s)
	}
}

// BenchmarkFrameOverSockets measures the same as BenchmarkFrame with a datagram over two real sockets on loopback.
func BenchmarkFrameOverSockets(b *testing.B) {
	c, said, frame := lively(b), speech(1600), int64(0)
	in := must(net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(loopback, 0))))(b)
	defer in.Close()
	c.callers.RemoteRTP = in.LocalAddr().(*net.UDPAddr).AddrPort()
	c.apply()
	buffer := make([]byte, 1500)
	b.ReportAllocs()
	for b.Loop() {
		if err := refill(c, said); err != nil {
			b.Fatal(err)
		}
		now := time.Duration(frame) * 20 * time.Millisecond
		rtpmedia.Transmit(c.caller, now, frame)
		n, from, err := in.ReadFromUDPAddrPort(buffer)
		if err != nil {
			b.Fatal(err)
		}
		rtpmedia.Inject(c.callee, 0, buffer[:n], from)
		rtpmedia.Tick(c.callee, now, frame)
		frame++
	}
}

// BenchmarkTick measures one tick of the pacer, which sends 20 ms of speech and plays 20 ms from the jitter buffer.
func BenchmarkTick(b *testing.B) {
	c, said, frame := lively(b), speech(1600), int64(0)
	b.ReportAllocs()
	for b.Loop() {
		if err := refill(c, said); err != nil {
			b.Fatal(err)
		}
		rtpmedia.Tick(c.caller, time.Duration(frame)*20*time.Millisecond, frame)
		frame++
	}
}

// BenchmarkSRTP measures the encryption and decryption of one SRTP packet.
func BenchmarkSRTP(b *testing.B) {
	crypto := newCrypto(b)
	seal := must(secure.NewSealer(crypto))(b)
	var opener secure.Opener
	if err := opener.Use(0, crypto); err != nil {
		b.Fatal(err)
	}
	plain := make([]byte, 172, 200)
	plain[0] = 2 << 6
	sequence := uint16(0)
	buffer := make([]byte, 0, 200)
	b.ReportAllocs()
	for b.Loop() {
		sequence++
		plain[2], plain[3] = byte(sequence>>8), byte(sequence)
		sealed, err := seal.RTP(buffer, plain)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := opener.RTP(0, sealed); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkForgedDatagram measures a received datagram of an unknown source whose sender does not have the key.
func BenchmarkForgedDatagram(b *testing.B) {
	c, ssrc := lively(b), byte(0)
	forged := make([]byte, 182)
	b.ReportAllocs()
	for b.Loop() {
		forged[0], forged[8] = 2<<6, ssrc
		ssrc++
		rtpmedia.Inject(c.caller, 0, forged, attacker)
	}
}

// BenchmarkOpenAndClose measures a whole session: opening two sockets, starting three goroutines, applying keys, and closing it.
func BenchmarkOpenAndClose(b *testing.B) {
	m := newMedia(b, nil)
	agreed := connect(b, m)
	defer agreed.close()
	b.ReportAllocs()
	for b.Loop() {
		s := must(m.Open(b.Context()))(b)
		if err := s.Apply(agreed.callers); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// Benchmark200Sessions runs 100 calls within this process for three seconds per iteration. It reports as late the frames that were sent 20
// ms or more after their due time.
func Benchmark200Sessions(b *testing.B) {
	const sessions, length = 200, 3 * time.Second
	m := newMedia(b, func(cfg *rtpmedia.Config) { cfg.Codecs = g711s.New })
	var late, sent, lost uint64
	for b.Loop() {
		before := m.Counters().LateFrames
		ctx, cancel := context.WithTimeout(context.Background(), length)
		var running sync.WaitGroup
		calls := make([]*call, sessions/2)
		for i := range calls {
			calls[i] = connect(b, m)
			calls[i].apply()
			for _, s := range []interface {
				Write(context.Context, []int16) error
			}{calls[i].caller, calls[i].callee} {
				running.Go(func() {
					for said := speech(1600); s.Write(ctx, said) == nil; {
					}
				})
			}
			running.Go(func() { discard(calls[i].caller) })
			running.Go(func() { discard(calls[i].callee) })
		}
		<-ctx.Done()
		late += m.Counters().LateFrames - before
		for _, c := range calls {
			s := c.callee.Stats()
			sent, lost = sent+2*s.Sent, lost+s.Lost+s.Late
			c.close()
		}
		cancel()
		running.Wait()
	}
	b.ReportMetric(float64(late)/float64(b.N), "late-frames")
	b.ReportMetric(float64(sent)/float64(b.N), "frames")
	b.ReportMetric(float64(lost)/float64(b.N), "lost-or-late-packets")
}
