package rtpmedia_test

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
)

// TestOffersDoNotRenewTheAllowance checks that a peer cannot direct more than one allowance of packets to unproven addresses, even with
// many offers after authentic packets.
func TestOffersDoNotRenewTheAllowance(t *testing.T) {
	t.Parallel()
	overheard(t, func(t *testing.T, c *call, n *network) {
		go discard(c.callee)
		hear(t, c.caller, 10*time.Second)
		if sent := len(n.recorded(c.calleAt)); sent < 450 {
			t.Fatalf("%d packets to a peer that is heard", sent)
		}
		c.callee.Close() // stops the callee's packets
		victims := map[netip.AddrPort]int{}
		for i := range byte(20) {
			victim := netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 51, 100, i}), 4000)
			c.callers.RemoteRTP, c.callers.RemoteRTCP = victim, netip.AddrPort{}
			if err := c.caller.Apply(c.callers); err != nil {
				t.Fatal(err)
			}
			hear(t, c.caller, 500*ms)
			victims[victim] = len(n.recorded(victim))
		}
		sum := 0
		for _, sent := range victims {
			sum += sent
		}
		if sum > 50+10+1 {
			t.Errorf("%d packets to the addresses of others in ten seconds: %v", sum, victims)
		}
	})
}

// TestPrivateAddressGetsNothing checks that with PublicOnly a private address in the SDP receives nothing. The queue must wait until an
// authentic packet arrives from a public address.
func TestPrivateAddressGetsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		p.call.callees.PublicOnly = true
		p.call.callees.RemoteRTP = netip.MustParseAddrPort("10.0.0.7:4000")
		p.call.callees.RemoteRTCP = netip.MustParseAddrPort("10.0.0.7:4001")
		if err := p.session.Apply(p.call.callees); err != nil {
			t.Fatal(err)
		}
		if err := p.session.Write(t.Context(), make([]int16, 800)); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			if rtpmedia.Tick(p.session, p.now(), p.frame) != nil {
				t.Fatal("a private address gets media")
			}
			p.frame++
		}
		if queued := p.session.Queued(); queued != 800 {
			t.Errorf("%d samples wait", queued)
		}
		outside := netip.MustParseAddrPort("198.51.100.7:4000")
		p.send(outside, 1, 300, 200*160, make([]byte, 160))
		if rtpmedia.Tick(p.session, p.now(), p.frame) == nil || rtpmedia.Remote(p.session) != outside {
			t.Errorf("media goes to %s", rtpmedia.Remote(p.session))
		}
	})
}

// TestMediaFollowsToPublicAddressesOnly checks that with PublicOnly the media does not follow authentic packets from a private address, and
// that such packets do not prove the address.
func TestMediaFollowsToPublicAddressesOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		p.call.callees.PublicOnly = true
		if err := p.session.Apply(p.call.callees); err != nil {
			t.Fatal(err)
		}
		signalled := rtpmedia.Remote(p.session)
		inside := netip.MustParseAddrPort("10.0.0.9:4000")
		sent := 0
		for i := range uint16(200) {
			p.send(inside, 1, 100+i, uint32(i)*160, make([]byte, 160))
			if rtpmedia.Tick(p.session, p.now(), p.frame) != nil {
				sent++
			}
			p.frame++
		}
		if at := rtpmedia.Remote(p.session); at != signalled || sent > 50+4 {
			t.Errorf("%d packets to %s", sent, at)
		}
		if got := p.session.Stats(); got.Received != 200 {
			t.Errorf("the packets are not heard: %+v", got)
		}
		outside := netip.MustParseAddrPort("198.51.100.7:4000")
		p.send(outside, 1, 300, 200*160, make([]byte, 160))
		if at := rtpmedia.Remote(p.session); at != outside {
			t.Errorf("media goes to %s", at)
		}
		if rtpmedia.Tick(p.session, p.now(), p.frame) == nil {
			t.Error("nothing is sent to a peer that is heard")
		}
	})
}
