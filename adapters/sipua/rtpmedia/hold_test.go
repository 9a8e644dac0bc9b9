package rtpmedia_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
)

func hold(c *sdp.Capabilities) { c.Hold = true }

// silence reads until Read returns sip.ErrMediaTimeout, and returns the time that this took.
func silence(t *testing.T, s sip.MediaSession) time.Duration {
	t.Helper()
	start := time.Now()
	for time.Since(start) < 10*time.Minute {
		if _, err := s.Read(context.Background()); errors.Is(err, sip.ErrMediaTimeout) {
			return time.Since(start)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("a silent peer lives on")
	return 0
}

func TestMediaTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		cut := func(*datagram) []time.Duration { return nil }
		n.route = cut
		c := dial(t, n, nil)
		defer c.close()
		go discard(c.callee)
		time.Sleep(time.Minute) // the timeout must not begin before Apply
		c.apply()
		if d := silence(t, c.caller); d < 30*time.Second || d > 31*time.Second {
			t.Errorf("before the first packet it took %s", d)
		}
		n.set(func() { n.route = nil })
		time.Sleep(time.Second)
		hear(t, c.caller, time.Second) // the peer sends again
		n.set(func() { n.route = cut })
		if d := silence(t, c.caller); d < 14*time.Second || d > 16*time.Second {
			t.Errorf("after the last packet it took %s", d)
		}
		n.set(func() {
			n.route = func(d *datagram) []time.Duration {
				if d.rtp() {
					return nil
				}
				return []time.Duration{ms}
			}
		})
		time.Sleep(10 * time.Second)
		hear(t, c.caller, time.Minute) // RTCP alone keeps the peer alive
	})
}

// TestHold checks that a held caller sends reports but no audio, hears the music on hold, and plays its queued audio after the hold.
func TestHold(t *testing.T) {
	t.Parallel()
	overheard(t, func(t *testing.T, c *call, n *network) {
		go discard(c.callee)
		if hear(t, c.caller, time.Second)[40].OnHold {
			t.Error("held from the beginning")
		}
		c.negotiate(nil, hold)
		c.apply()
		time.Sleep(20 * ms)
		before := len(n.recorded(c.calleAt))
		control := netip.AddrPortFrom(c.calleAt.Addr(), c.calleAt.Port()+1)
		reports := len(n.recorded(control))
		said := speech(1600)
		if err := c.caller.Write(context.Background(), said); err != nil {
			t.Fatal(err)
		}
		music := speech(8000)
		go func() { _ = c.callee.Write(context.Background(), music) }()
		frames := hear(t, c.caller, 60*time.Second)
		for _, f := range frames[20:] {
			if !f.OnHold || len(f.Out) != 0 {
				t.Fatal("not held, or something was played")
			}
		}
		if !containsRun(inbound(frames), music) {
			t.Error("the music on hold is not heard")
		}
		if sent := len(n.recorded(c.calleAt)) - before; sent != 0 {
			t.Errorf("%d packets were sent to a peer that does not listen", sent)
		}
		if len(n.recorded(control))-reports < 8 {
			t.Error("there are no reports during the hold")
		}
		if q := c.caller.Queued(); q != len(said) {
			t.Errorf("%d samples wait, want %d", q, len(said))
		}
		c.negotiate(nil, nil)
		c.apply()
		time.Sleep(20 * ms)
		frames = hear(t, c.caller, time.Second)[10:]
		if frames[10].OnHold || c.caller.Queued() != 0 {
			t.Error("after the hold it does not go on")
		}
	})
}

// TestTimeoutIsSuspendedWhileHeld checks that no media is sent and no timeout occurs while both sides hold, or while the peer's SDP
// contains 0.0.0.0.
func TestTimeoutIsSuspendedWhileHeld(t *testing.T) {
	t.Parallel()
	inactive := func(c *call) { c.negotiate(hold, hold) }
	oldWay := func(c *call) {
		c.negotiate(nil, hold)
		c.callers.RemoteRTP = netip.AddrPortFrom(netip.IPv4Unspecified(), c.calleAt.Port())
		c.callers.RemoteRTCP = netip.AddrPort{}
		c.callers.Direction = sdp.SendRecv // the old form of hold needs no direction attribute
	}
	for name, change := range map[string]func(*call){"inactive": inactive, "0.0.0.0": oldWay} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			overheard(t, func(t *testing.T, c *call, n *network) {
				go discard(c.callee)
				hear(t, c.caller, time.Second)
				change(c)
				c.apply()
				n.set(func() { n.route = func(*datagram) []time.Duration { return nil } })
				nowhere := netip.AddrPortFrom(netip.IPv4Unspecified(), c.calleAt.Port())
				before := len(n.recorded(c.calleAt))
				hear(t, c.caller, 5*time.Minute)
				if sent := len(n.recorded(c.calleAt)) - before + len(n.recorded(nowhere)); sent != 0 {
					t.Errorf("%d packets were sent during the hold", sent)
				}
				c.negotiate(nil, nil)
				c.apply()
				if d := silence(t, c.caller); d < 14*time.Second || d > 16*time.Second {
					t.Errorf("after the hold it took %s", d)
				}
			})
		})
	}
}

// TestOffersDoNotRenewTheTimeout checks that a peer without media times out, even if it sends new offers and repeatedly holds the call.
func TestOffersDoNotRenewTheTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		n.route = func(*datagram) []time.Duration { return nil }
		c := dial(t, n, nil)
		defer c.close()
		go discard(c.callee)
		began := time.Now()
		var read, held time.Duration
		for change := (func(*sdp.Capabilities))(nil); ; {
			c.negotiate(nil, change)
			c.apply()
			at := time.Now()
			for time.Since(at) < 10*time.Second {
				_, err := c.caller.Read(context.Background())
				if errors.Is(err, sip.ErrMediaTimeout) {
					read = time.Since(began) - held
					break
				}
			}
			if read > 0 || time.Since(began) > 5*time.Minute {
				break
			}
			if change == nil {
				change = hold
			} else {
				change, held = nil, held+10*time.Second
			}
		}
		if read < 30*time.Second || read > 31*time.Second {
			t.Errorf("it took %s without the time on hold", read)
		}
	})
}

// TestTimeoutOnHold checks that a holding peer times out after Timeouts.Held without a packet, and that each packet restarts that time.
func TestTimeoutOnHold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		c := dial(t, n, func(c *rtpmedia.Config) { c.Timeouts.Held = time.Minute })
		defer c.close()
		go discard(c.callee)
		c.negotiate(nil, hold)
		c.apply()
		hear(t, c.caller, 3*time.Minute) // the peer's music
		n.set(func() { n.route = func(*datagram) []time.Duration { return nil } })
		if d := silence(t, c.caller); d < 59*time.Second || d > 61*time.Second {
			t.Errorf("it took %s", d)
		}
	})
}

// TestHoldingSideHearsNothing checks that a session ignores all received audio while it holds the peer.
func TestHoldingSideHearsNothing(t *testing.T) {
	t.Parallel()
	inCall(t, func(t *testing.T, c *call) {
		go discard(c.caller)
		go func() { _ = c.caller.Write(context.Background(), speech(16000)) }()
		if containsRun(inbound(hear(t, c.callee, time.Second)), make([]int16, 8000)) {
			t.Error("nothing is heard before the hold")
		}
		callers := c.callers
		c.negotiate(nil, hold)
		c.callers = callers // the caller does not apply the hold and keeps talking
		c.apply()
		for _, s := range inbound(hear(t, c.callee, 3*time.Second)) {
			if s != 0 {
				t.Fatal("something was heard")
			}
		}
		if s := c.callee.Stats(); s.Lost+s.Late+s.Bad != 0 {
			t.Errorf("stats %+v", s)
		}
		c.negotiate(nil, nil)
		c.apply()
		said := speech(8000)
		if !containsRun(talk(t, c, said), said) {
			t.Error("after the hold the audio is not exact")
		}
	})
}

func TestConfig(t *testing.T) {
	t.Parallel()
	ip := netip.MustParseAddr("192.0.2.1")
	for name, cfg := range map[string]rtpmedia.Config{
		"no address":    {Codecs: codecs},
		"no codecs":     {IP: ip},
		"unspecified":   {IP: netip.IPv4Unspecified(), Codecs: codecs},
		"two families":  {IP: ip, Advertise: netip.MustParseAddr("2001:db8::1"), Codecs: codecs},
		"no pair":       {IP: ip, Codecs: codecs, Ports: rtpmedia.PortRange{Low: 10001, High: 10002}},
		"upside down":   {IP: ip, Codecs: codecs, Ports: rtpmedia.PortRange{Low: 20000, High: 10000}},
		"delays":        {IP: ip, Codecs: codecs, Jitter: rtpmedia.Bounds{Least: 50 * ms, Most: 20 * ms}},
		"endless delay": {IP: ip, Codecs: codecs, Jitter: rtpmedia.Bounds{Most: time.Minute}},
	} {
		if m, err := rtpmedia.New(cfg); err == nil || m != nil {
			t.Errorf("%s was taken", name)
		}
	}
	m := must(rtpmedia.New(rtpmedia.Config{IP: netip.IPv4Unspecified(), Advertise: ip, Codecs: codecs}))(t)
	s := must(m.Open(context.Background()))(t)
	defer s.Close()
	if s.Local().Addr() != ip || s.Local().Port()%2 != 0 || s.Local().Port() == 0 || s.Rate() != 8000 {
		t.Errorf("local %s, rate %d", s.Local(), s.Rate())
	}
}
