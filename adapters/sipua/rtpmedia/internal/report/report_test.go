package report_test

import (
	"math"
	"testing"
	"time"

	"github.com/pion/rtcp"

	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/report"
)

const (
	ours   = 0xaaaa
	theirs = 0xbbbb
)

func newReception() *report.Reception {
	r := &report.Reception{}
	r.Clock(8000)
	return r
}

// feed counts one packet of 20 ms for each sequence number. Each packet arrives on time.
func feed(r *report.Reception, sequence ...int) {
	for _, s := range sequence {
		r.Packet(time.Duration(s)*20*time.Millisecond, theirs, uint16(s), uint32(s)*160, true)
	}
}

func sequence(from, to int) []int {
	var all []int
	for s := from; s < to; s++ {
		all = append(all, s)
	}
	return all
}

func TestLossIsCountedByExtendedSequence(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		sequence []int
		lost     uint64
	}{
		"none":          {sequence(10, 20), 0},
		"one":           {[]int{10, 11, 13}, 1},
		"reordered":     {[]int{10, 12, 11, 13}, 0},
		"over the wrap": {[]int{65_533, 65_534, 65_537, 65_538}, 2},
		"two wraps":     {append(sequence(0, 140_000), 140_005), 5},
		"first is late": {[]int{11, 10, 12, 14}, 1},
	}
	for name, c := range cases {
		r := newReception()
		feed(r, c.sequence...)
		if r.Lost() != c.lost || r.Received() != uint64(len(c.sequence)) {
			t.Errorf("%s: lost %d, want %d; received %d", name, r.Lost(), c.lost, r.Received())
		}
	}
}

func TestNewestIsKnown(t *testing.T) {
	t.Parallel()
	r := newReception()
	for _, c := range []struct {
		sequence uint16
		newest   bool
	}{{65_534, true}, {1, true}, {65_535, false}, {0, false}, {2, true}} {
		if got := r.Packet(0, theirs, c.sequence, 0, false); got != c.newest {
			t.Errorf("%d: newest %t", c.sequence, got)
		}
	}
}

func TestTotalsSurviveAnotherSource(t *testing.T) {
	t.Parallel()
	r := newReception()
	feed(r, 1, 2, 5)
	compound(t, r, 0, sent(false), false)
	r.Packet(0, theirs+1, 60_000, 0, true)
	r.Packet(0, theirs+1, 60_002, 160, true)
	if r.Lost() != 3 || r.Received() != 5 {
		t.Errorf("lost %d, received %d", r.Lost(), r.Received())
	}
	if block := compound(t, r, 0, sent(false), false)[0].(*rtcp.ReceiverReport).Reports[0]; block.FractionLost != 85 || block.TotalLost != 1 {
		t.Errorf("the report on the new source: %+v", block)
	}
	if ssrc, ok := r.Source(); !ok || ssrc != theirs+1 {
		t.Errorf("source %x", ssrc)
	}
}

func TestJitter(t *testing.T) {
	t.Parallel()
	r := newReception()
	feed(r, sequence(0, 100)...)
	if r.Jitter() != 0 {
		t.Errorf("packets on time: %s", r.Jitter())
	}
	// Every other packet is 10 ms late. Consecutive transit times therefore differ by 10 ms, and the jitter approaches 10 ms.
	for s := 100; s < 400; s++ {
		r.Packet(time.Duration(s)*20*time.Millisecond+time.Duration(s%2)*10*time.Millisecond, theirs, uint16(s), uint32(s)*160, true)
	}
	if j := r.Jitter(); j < 9900*time.Microsecond || j > 10*time.Millisecond {
		t.Errorf("jitter %s, want nearly 10ms", j)
	}
	before := r.Jitter()
	r.Packet(time.Hour, theirs, 401, 0, false)
	if r.Jitter() != before {
		t.Error("an event has changed the jitter")
	}
}

func sent(active bool) report.Sent {
	return report.Sent{SSRC: ours, CNAME: "name", Packets: 3, Octets: 480, NTP: 5 << 32, Timestamp: 77, Active: active}
}

func compound(t *testing.T, r *report.Reception, now time.Duration, s report.Sent, bye bool) []rtcp.Packet {
	t.Helper()
	raw, err := r.Compound(now, s, bye)
	if err != nil {
		t.Fatal(err)
	}
	packets, err := rtcp.Unmarshal(raw)
	if err != nil {
		t.Fatal(err)
	}
	return packets
}

func TestCompound(t *testing.T) {
	t.Parallel()
	r := newReception()
	packets := compound(t, r, 0, sent(true), false)
	sr := packets[0].(*rtcp.SenderReport)
	if sr.SSRC != ours || sr.PacketCount != 3 || sr.OctetCount != 480 || sr.NTPTime != 5<<32 || sr.RTPTime != 77 || len(sr.Reports) != 0 {
		t.Errorf("sender report %+v", sr)
	}
	feed(r, 10, 11, 12, 14)
	packets = compound(t, r, 0, sent(false), true)
	block := packets[0].(*rtcp.ReceiverReport).Reports[0]
	if block.SSRC != theirs || block.FractionLost != 51 || block.TotalLost != 1 || block.LastSequenceNumber != 14 {
		t.Errorf("block %+v", block)
	}
	if name := packets[1].(*rtcp.SourceDescription).Chunks[0]; name.Source != ours || name.Items[0].Text != "name" {
		t.Errorf("description %+v", name)
	}
	if bye := packets[2].(*rtcp.Goodbye); bye.Sources[0] != ours {
		t.Errorf("goodbye %+v", bye)
	}
	feed(r, 15, 16)
	if block := compound(t, r, 0, sent(false), false)[0].(*rtcp.ReceiverReport).Reports[0]; block.FractionLost != 0 || block.TotalLost != 1 {
		t.Errorf("the second block repeats the loss of the first: %+v", block)
	}
}

// TestRoundTrip checks the round-trip time of two receptions that report to each other. The path takes 30 ms each way, and the peer answers
// our report after 2 s.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	a, b := newReception(), newReception()
	a.Packet(0, theirs, 1, 0, true)
	b.Packet(0, ours, 1, 0, true)
	wall := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)
	ntp := func(at time.Duration) uint64 { return report.NTP(wall.Add(at)) }

	first, err := a.Compound(0, report.Sent{SSRC: ours, CNAME: "a", NTP: ntp(0), Active: true}, false)
	if err != nil {
		t.Fatal(err)
	}
	// b's clock is 100 hours ahead of a's clock.
	if _, err := b.Receive(100*time.Hour+30*time.Millisecond, 1, theirs, first); err != nil {
		t.Fatal(err)
	}
	b.Packet(0, ours, 5, 0, true)
	second, err := b.Compound(100*time.Hour+2030*time.Millisecond, report.Sent{SSRC: theirs, CNAME: "b", Active: false}, true)
	if err != nil {
		t.Fatal(err)
	}
	heard, err := a.Receive(2060*time.Millisecond, ntp(2060*time.Millisecond), ours, second)
	if err != nil {
		t.Fatal(err)
	}
	if d := (heard.RoundTrip - 60*time.Millisecond).Abs(); d > time.Millisecond {
		t.Errorf("round trip %s, want 60ms", heard.RoundTrip)
	}
	if !heard.Reported || math.Abs(heard.Lost-0.6) > 0.01 || !heard.Bye {
		t.Errorf("heard %+v", heard)
	}
	if foreign, _ := a.Receive(0, 0, ours+1, second); foreign.Reported {
		t.Error("a block about another source was taken for ours")
	}
	if absurd, _ := a.Receive(0, ntp(time.Hour), ours, second); absurd.RoundTrip != 0 {
		t.Errorf("a round trip of %s was believed", absurd.RoundTrip)
	}
}

func TestInterval(t *testing.T) {
	t.Parallel()
	least, most := report.Interval(0, false), report.Interval(math.Nextafter(1, 0), false)
	if least < 2*time.Second || least > 2100*time.Millisecond || most < 6*time.Second || most > 6200*time.Millisecond {
		t.Errorf("%s to %s", least, most)
	}
	if first := report.Interval(0.5, true); first != report.Interval(0.5, false)/2 {
		t.Errorf("first %s", first)
	}
}

func TestNTP(t *testing.T) {
	t.Parallel()
	if got := report.NTP(time.Unix(0, 5e8)); got != 2208988800<<32|1<<31 {
		t.Errorf("got %x", got)
	}
}

func FuzzTake(f *testing.F) {
	r := newReception()
	feed(r, 1, 2)
	raw, err := r.Compound(0, sent(true), true)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte{0x81, 201, 0, 7})
	f.Fuzz(func(t *testing.T, raw []byte) {
		heard, err := newReception().Receive(time.Second, 1<<40, ours, raw)
		if err == nil && (heard.Lost < 0 || heard.Lost > 1 || heard.RoundTrip < 0 || heard.RoundTrip > time.Minute) {
			t.Errorf("heard %+v", heard)
		}
	})
}
