package rtpmedia_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/secure"
	"github.com/callwright/callwright/sip"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var loopback = netip.MustParseAddr("127.0.0.1")

// newMedia returns a Media on real sockets of the loopback interface. change may be nil.
func newMedia(t testing.TB, change func(*rtpmedia.Config)) *rtpmedia.Media {
	t.Helper()
	cfg := rtpmedia.Config{IP: loopback, Codecs: codecs}
	if change != nil {
		change(&cfg)
	}
	return must(rtpmedia.New(cfg))(t)
}

// connect opens the two sessions of a call on m and negotiates their parameters, but does not apply them.
func connect(t testing.TB, m *rtpmedia.Media) *call {
	t.Helper()
	c := &call{t: t, callerM: m, calleeM: m}
	c.open()
	return c
}

// untilHeard repeats the same speech on from until the other session, to, has received the given number of unchanged frames. On a busy
// machine, which may delay or lose frames, this only takes longer. The test fails after 20 s.
func untilHeard(t *testing.T, from, to sip.MediaSession, times int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	said := speech(1600)
	var writing sync.WaitGroup
	defer writing.Wait()
	defer cancel()
	writing.Go(func() {
		for from.Write(ctx, said) == nil {
		}
	})
	writing.Go(func() {
		for {
			if _, err := from.Read(ctx); err != nil {
				return
			}
		}
	})
	for heard := 0; heard < times; {
		f, err := to.Read(ctx)
		if err != nil {
			t.Fatalf("heard %d of %d frames: %v", heard, times, err)
		}
		for i := 0; i < len(said); i += 160 {
			if slices.Equal(f.In, said[i:i+160]) {
				heard++
			}
		}
	}
}

func TestCallOverSockets(t *testing.T) {
	t.Parallel()
	for _, ip := range []string{"127.0.0.1", "::1"} {
		t.Run(ip, func(t *testing.T) {
			t.Parallel()
			c := connect(t, newMedia(t, func(cfg *rtpmedia.Config) { cfg.IP = netip.MustParseAddr(ip) }))
			defer c.close()
			c.apply()
			untilHeard(t, c.caller, c.callee, 25)
			untilHeard(t, c.callee, c.caller, 25)
			if s := c.callee.Stats(); s.Bad != 0 || s.Received == 0 || s.Sent == 0 {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

// TestCallThroughARelay checks a call through a relay that simulates a NAT and a bad network. The caller's address differs from its SDP,
// and packets are lost, duplicated and reordered.
func TestCallThroughARelay(t *testing.T) {
	t.Parallel()
	c := connect(t, newMedia(t, nil))
	defer c.close()
	c.callers.RemoteRTP = relay(t, c.callerAt, c.calleAt)
	c.callees.RemoteRTP = netip.AddrPortFrom(loopback, 9)
	c.apply()
	untilHeard(t, c.caller, c.callee, 25)
	untilHeard(t, c.callee, c.caller, 25)
	if s := c.callee.Stats(); s.Lost == 0 || s.Bad != 0 {
		t.Errorf("stats %+v", s)
	}
}

// relay returns the address of a socket that forwards packets from a to b and from b to a. Of the packets to b it duplicates about every
// 7th, drops about every 11th, and sends about every 13th after the next packet.
func relay(t *testing.T, a, b netip.AddrPort) netip.AddrPort {
	t.Helper()
	at := must(net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(loopback, 0))))(t)
	var running sync.WaitGroup
	running.Go(func() {
		var kept []byte
		for count := 1; ; count++ {
			buffer := make([]byte, 2000)
			n, from, err := at.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			packet, out, to := buffer[:n], [][]byte{kept, buffer[:n]}, b
			switch kept = nil; {
			case from == b:
				out, to = [][]byte{packet}, a
			case count%7 == 0:
				out = append(out, packet)
			case count%11 == 0:
				out = nil
			case count%13 == 0:
				out, kept = nil, packet
			}
			for _, p := range out {
				if p != nil {
					_, _ = at.WriteToUDPAddrPort(p, to)
				}
			}
		}
	})
	t.Cleanup(func() {
		_ = at.Close()
		running.Wait()
	})
	return at.LocalAddr().(*net.UDPAddr).AddrPort()
}

func TestPortsAreExhaustedAndReleased(t *testing.T) {
	t.Parallel()
	// Choose eight pairs of ports around a free port.
	free := must(net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(loopback, 0))))(t)
	low := free.LocalAddr().(*net.UDPAddr).AddrPort().Port() &^ 15
	_ = free.Close()
	m := newMedia(t, func(cfg *rtpmedia.Config) { cfg.Ports = rtpmedia.PortRange{Low: low, High: low + 15} })
	for range 3 {
		var sessions []sip.MediaSession
		ports := map[uint16]bool{}
		for {
			s, err := m.Open(context.Background())
			if err != nil {
				if !errors.Is(err, callwright.ErrUnavailable) {
					t.Fatal(err)
				}
				break
			}
			sessions = append(sessions, s)
			port := s.Local().Port()
			if port%2 != 0 || ports[port] || port < low || port > low+14 {
				t.Errorf("port %d", port)
			}
			ports[port] = true
		}
		if len(sessions) == 0 || m.Counters().Sessions != len(sessions) {
			t.Fatalf("%d sessions, %d counted", len(sessions), m.Counters().Sessions)
		}
		for _, s := range sessions {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		for port := range ports {
			for p := port; p <= port+1; p++ {
				taken, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(loopback, p)))
				if err != nil {
					t.Errorf("port %d is not free after Close: %v", p, err)
					continue
				}
				_ = taken.Close()
			}
		}
	}
	if m.Counters().Sessions != 0 {
		t.Errorf("%d sessions are left", m.Counters().Sessions)
	}
}

// TestForeignAddress checks that Check and Open return an error that names the media address if this machine does not have the address.
func TestForeignAddress(t *testing.T) {
	t.Parallel()
	foreign := netip.MustParseAddr("203.0.113.77") // TEST-NET-3, RFC 5737
	for name, ports := range map[string]rtpmedia.PortRange{"of a range": {Low: 30000, High: 30003}, "of the system": {}} {
		m := newMedia(t, func(c *rtpmedia.Config) { c.IP, c.Ports = foreign, ports })
		_, err := m.Open(t.Context())
		for what, err := range map[string]error{"Check": m.Check(), "Open": err} {
			if !errors.Is(err, callwright.ErrUnavailable) || callwright.MessageOf(err) != "this machine does not have the media address 203.0.113.77: configure an address of this machine" {
				t.Errorf("with ports %s %s gave %v, %v", name, what, err, errors.Unwrap(err))
			}
		}
	}
	if err := newMedia(t, nil).Check(); err != nil {
		t.Errorf("loopback: %v", err)
	}
}

// TestPortOrder checks the order of ports on a network without other users. Open must use every complete pair, leave no half of a pair
// bound, and reuse the pairs in the order in which they were freed.
func TestPortOrder(t *testing.T) {
	t.Parallel()
	n := newNetwork()
	blocked := must(n.listen(netip.MustParseAddrPort("192.0.2.1:10003")))(t)
	cfg := rtpmedia.Config{IP: netip.MustParseAddr("192.0.2.1"), Codecs: codecs, Ports: rtpmedia.PortRange{Low: 9999, High: 10008}}
	m := must(rtpmedia.NewOn(cfg, n.listen))(t)
	open := func() sip.MediaSession { return must(m.Open(context.Background()))(t) }
	a, b, c := open(), open(), open() // ports 10000, 10004 and 10006 in random order, because 10003 is in use
	if _, err := m.Open(context.Background()); !errors.Is(err, callwright.ErrUnavailable) || callwright.MessageOf(err) != "all media ports of 192.0.2.1 are in use: try again later, or configure more ports" {
		t.Fatalf("a fourth session: %v", err)
	}
	if len(n.conns) != 7 {
		t.Errorf("%d sockets are open, want 7: half a pair is held", len(n.conns))
	}
	if err := blocked.Close(); err != nil {
		t.Fatal(err)
	}
	d := open()
	if d.Local().Port() != 10002 {
		t.Errorf("took %d", d.Local().Port())
	}
	first, second := b.Local().Port(), a.Local().Port()
	for _, s := range []sip.MediaSession{b, a} {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	b, a = open(), open()
	if b.Local().Port() != first || a.Local().Port() != second {
		t.Errorf("took %d and %d, want %d and %d", b.Local().Port(), a.Local().Port(), first, second)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Open(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("opened after the end: %v", err)
	}
	for _, s := range []sip.MediaSession{a, b, c, d} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// FuzzDatagrams checks that no datagram, authentic or not, makes a session panic.
func FuzzDatagrams(f *testing.F) {
	c := connect(f, newMedia(f, nil))
	defer c.close()
	rtpmedia.Unpaced(c.caller)
	if err := c.caller.Apply(c.callers); err != nil {
		f.Fatal(err)
	}
	seal := must(secure.NewSealer(c.callees.LocalCrypto))(f)
	f.Add([]byte{0x80, 0, 0, 1, 0, 0, 0, 160, 0, 0, 0, 7, 1, 2, 3}, true)
	f.Add([]byte{0x80, 101, 0, 2, 0, 0, 0, 160, 0, 0, 0, 7, 5, 10, 0, 160}, true)
	f.Add([]byte{0xb0, 0x80, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 7, 0xbe, 0xde, 0, 0, 9}, true)
	f.Add(bytes.Repeat([]byte{0x80}, 40), false)
	f.Fuzz(func(_ *testing.T, datagram []byte, sealed bool) {
		if own, err := seal.RTP(nil, datagram); err == nil && sealed { // encrypted, as the peer would send it
			datagram = own
		}
		for i := range uint64(3) {
			rtpmedia.Inject(c.caller, 1, bytes.Clone(datagram), attacker)
			rtpmedia.Inject(c.caller, 0, bytes.Clone(datagram), attacker)
			rtpmedia.Tick(c.caller, time.Duration(i)*20*time.Millisecond, int64(i))
		}
		c.caller.Stats()
	})
}
