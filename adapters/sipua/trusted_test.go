package sipua_test

import (
	"fmt"
	"net/netip"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua"
	trunk "github.com/callwright/callwright/sip"
)

// TestScannerBehindACarrier checks that a scanner behind a carrier does not block the carrier or its other callers, and that its numbers
// are no longer looked up after many refusals.
func TestScannerBehindACarrier(t *testing.T) {
	t.Parallel()
	a := newAgent(t, func(c *sipua.Config) {
		c.Trusted = func(from netip.Addr) bool { return from == netip.MustParseAddr("127.0.0.2") }
	})
	var lookups atomic.Int32
	a.routes.judge = func(to callwright.PhoneNumber, _ trunk.Peer) error {
		lookups.Add(1)
		if to != bob {
			return callwright.NotFound("number")
		}
		return nil
	}
	carrier := callerOver(dialWireFrom(t, a, "127.0.0.2"), a)
	carrier.from = "<sip:scanner@carrier.test>;tag=s"
	number := carrier.target
	for i := range 300 {
		carrier.callID = fmt.Sprint("scan-", i)
		carrier.target = fmt.Sprintf("sip:+1555019%04d@x.test", i)
		carrier.ask("INVITE", offerSDP("RTP/SAVP"))
		if r := carrier.response(403); !isBare(r) {
			t.Fatalf("call %d: %s %v", i, r.start, r.header)
		}
	}
	if n := lookups.Load(); n >= 300 {
		t.Errorf("all %d calls were looked up", n)
	}
	carrier.from, carrier.target, carrier.callID = "", number, "a-person"
	carrier.ask("INVITE", offerSDP("RTP/SAVP"))
	carrier.comesIn(a)
}

// TestScannerThatChangesEverything checks that calls to served numbers are admitted while a scanner behind the same carrier exceeds the
// carrier's rate limit with a new caller and number in each call.
func TestScannerThatChangesEverything(t *testing.T) {
	t.Parallel()
	a := newAgent(t, func(c *sipua.Config) {
		c.InvitesPerSecond = 2
		c.Trusted = func(netip.Addr) bool { return true }
		c.Serves = func(n callwright.PhoneNumber) bool { return n == bob }
	})
	a.routes.judge = func(to callwright.PhoneNumber, _ trunk.Peer) error {
		if to != bob {
			return callwright.NotFound("number")
		}
		return nil
	}
	carrier := callerOver(dialWireFrom(t, a, "127.0.0.2"), a)
	number := carrier.target
	paced := 0
	for i := range 40 {
		carrier.from = fmt.Sprintf("<sip:scanner%d@carrier.test>;tag=s%d", i, i)
		carrier.callID, carrier.target = fmt.Sprint("scan-", i), fmt.Sprintf("sip:+1555019%04d@x.test", i)
		carrier.ask("INVITE", offerSDP("RTP/SAVP"))
		r := carrier.next()
		for r.status() == 100 {
			r = carrier.next()
		}
		switch r.status() {
		case 503:
			paced++
		case 403:
		default:
			t.Fatalf("call %d: %s", i, r.start)
		}
	}
	if paced == 0 {
		t.Error("the scanner has no pace")
	}
	carrier.from, carrier.target, carrier.callID = "", number, "a-person"
	carrier.ask("INVITE", offerSDP("RTP/SAVP"))
	carrier.comesIn(a)
}

// TestNationalNumberComesIn checks that an INVITE to ten national digits calls the number that the routes return, and that it counts as a
// call to a served number.
func TestNationalNumberComesIn(t *testing.T) {
	t.Parallel()
	const number = callwright.PhoneNumber("+14155550123")
	a := newAgent(t, func(c *sipua.Config) {
		c.InvitesPerSecond = 1
		c.Trusted = func(netip.Addr) bool { return true }
		c.Serves = func(n callwright.PhoneNumber) bool { return n == number }
	})
	var digits atomic.Value
	a.routes.judge = func(_ callwright.PhoneNumber, p trunk.Peer) error {
		digits.Store(p.Digits)
		return nil
	}
	a.routes.route.Number = number
	carrier := callerOver(dialWireFrom(t, a, "127.0.0.2"), a)
	carrier.target = "sip:4155550123@x.test"
	carrier.ask("INVITE", offerSDP("RTP/SAVP"))
	in, err := a.Accept(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := in.Caller().To; got != number || digits.Load() != "4155550123" {
		t.Errorf("called is %s, looked up were %v", got, digits.Load())
	}
}

// TestWrongNumbersThenTheRightOne checks that a caller behind a carrier can still call the right number after 20 calls to a wrong one.
func TestWrongNumbersThenTheRightOne(t *testing.T) {
	t.Parallel()
	a := newAgent(t, func(c *sipua.Config) { c.Trusted = func(netip.Addr) bool { return true } })
	a.routes.judge = func(to callwright.PhoneNumber, _ trunk.Peer) error {
		if to != bob {
			return callwright.NotFound("number")
		}
		return nil
	}
	c := newCaller(t, a)
	number := c.target
	c.target = "sip:+15550199999@x.test"
	for range 20 {
		c.ask("INVITE", offerSDP("RTP/SAVP"))
		c.response(403)
	}
	c.target = number
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	c.comesIn(a)
}
