package dtmf_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/dtmf"
)

// sent holds a packet of a sequence and the fields of its RTP header.
type sent struct {
	timestamp uint32
	payload   []byte
	first     bool
	step      int
	sequence  uint16
}

func (p sent) duration() uint16 { return binary.BigEndian.Uint16(p.payload[2:]) }
func (p sent) end() bool        { return p.payload[1]&0x80 != 0 }

// send returns the packets of a whole sequence and the number of its steps. The RTP clock starts at 1000.
func send(t testing.TB, digits string, ticks uint32) (packets []sent, steps int) {
	t.Helper()
	s, err := dtmf.NewSequence(digits, ticks)
	if err != nil {
		t.Fatal(err)
	}
	var began uint32
	for ; !s.Done(); steps++ {
		if p, ok := s.Next(); ok {
			if p.First {
				began = 1000 + uint32(steps)*ticks
			}
			packets = append(packets, sent{began, slices.Clone(p.Payload[:]), p.First, steps, uint16(steps)})
		}
	}
	return packets, steps
}

func receive(r *dtmf.Receiver, ssrc uint32, packets []sent) string {
	var got strings.Builder
	for _, p := range packets {
		h := dtmf.Header{SSRC: ssrc, Timestamp: p.timestamp, Sequence: p.sequence, Marker: p.first}
		if d, ok := r.Packet(h, p.payload); ok {
			got.WriteByte(d)
		}
	}
	return got.String()
}

func TestOneEvent(t *testing.T) {
	t.Parallel()
	packets, steps := send(t, "5", 160)
	if len(packets) != 7 || steps != 8 {
		t.Fatalf("%d packets in %d steps, want 7 in 8", len(packets), steps)
	}
	durations := []uint16{160, 320, 480, 640, 800, 800, 800}
	for i, p := range packets {
		if p.timestamp != 1000 || p.payload[0] != 5 || p.payload[1]&0x3f != 10 {
			t.Errorf("packet %d: %+v", i, p)
		}
		if p.duration() != durations[i] || p.first != (i == 0) || p.end() != (i >= 4) {
			t.Errorf("packet %d: duration %d, first %t, end %t", i, p.duration(), p.first, p.end())
		}
	}
}

func TestPauseAndGap(t *testing.T) {
	t.Parallel()
	packets, steps := send(t, "1w2", 160)
	if steps != 8+25+8 {
		t.Errorf("%d steps", steps)
	}
	second := packets[7]
	if second.step != 8+25 || second.timestamp != 1000+33*160 || !second.first {
		t.Errorf("the second digit: %+v", second)
	}
	if packets, _ := send(t, "9", 960); packets[4].duration() != 4800 {
		t.Errorf("at 48 kHz the tone lasts %d ticks", packets[4].duration())
	}
}

func TestUnknownDigits(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"12x", " ", "1,2", "é", "\x00", "E"} {
		_, err := dtmf.NewSequence(text, 160)
		if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Field != "digits" || e.Code != callwright.CodeBadRequest {
			t.Errorf("%q: %v", text, err)
		}
	}
	if s, err := dtmf.NewSequence("", 160); err != nil || !s.Done() {
		t.Errorf("no digits: %v", err)
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	s, err := dtmf.NewSequence("123", 160)
	if err != nil {
		t.Fatal(err)
	}
	var packets []sent
	for range 3 {
		p, _ := s.Next()
		packets = append(packets, sent{payload: slices.Clone(p.Payload[:])})
	}
	s.Stop()
	for !s.Done() {
		if p, ok := s.Next(); ok {
			packets = append(packets, sent{payload: slices.Clone(p.Payload[:])})
		}
	}
	if len(packets) != 7 || !packets[6].end() || packets[6].payload[0] != 1 {
		t.Errorf("the digit that was being sent did not end properly: %+v", packets)
	}
	s.Stop()
	if fresh, _ := dtmf.NewSequence("12", 160); true {
		if fresh.Stop(); !fresh.Done() {
			t.Error("a sequence that has not begun goes on")
		}
	}
}

// TestEveryDigitArrivesOnce checks that each digit is received exactly once. Each event keeps at least one packet. The other packets may be
// lost, reordered within the event, or duplicated a few packets later.
func TestEveryDigitArrivesOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[0-9A-D*#]{1,12}`).Draw(t, "digits")
		s, err := dtmf.NewSequence(text, 160)
		if err != nil {
			t.Fatal(err)
		}
		events := make([][]sent, 0, len(text))
		var began uint32
		marked, sequence := rapid.Bool().Draw(t, "marked"), rapid.Uint16().Draw(t, "sequence")
		for now := rapid.Uint32().Draw(t, "clock"); !s.Done(); now += 160 {
			p, ok := s.Next()
			sequence++
			if ok && p.First {
				events, began = append(events, nil), now
			}
			if ok {
				last := len(events) - 1
				events[last] = append(events[last], sent{
					timestamp: began, payload: slices.Clone(p.Payload[:]), first: marked && p.First, sequence: sequence,
				})
			}
		}
		var arrived []sent
		for _, event := range events {
			kept := rapid.SliceOfNDistinct(rapid.IntRange(0, len(event)-1), 1, -1, rapid.ID).Draw(t, "kept")
			for _, i := range kept { // in random order within the event
				arrived = append(arrived, event[i])
			}
			if rapid.Bool().Draw(t, "doubled") {
				arrived = append(arrived, arrived[rapid.IntRange(max(0, len(arrived)-9), len(arrived)-1).Draw(t, "which")])
			}
		}
		if got := receive(&dtmf.Receiver{}, 1, arrived); got != text {
			t.Fatalf("got %q, want %q", got, text)
		}
	})
}

func TestLateEndOfTheEventBefore(t *testing.T) {
	t.Parallel()
	one, _ := send(t, "1", 160)
	two := sent{timestamp: 9000, payload: []byte{2, 10, 0, 160}, sequence: 50}
	r := &dtmf.Receiver{}
	if got := receive(r, 1, []sent{one[0], two, one[6], two}); got != "12" {
		t.Errorf("got %q", got)
	}
	if got := receive(r, 2, one); got != "1" {
		t.Errorf("from another source: %q", got)
	}
}

func TestSegmentsOfALongEvent(t *testing.T) {
	t.Parallel()
	sequence := uint16(0)
	segment := func(timestamp uint32, flags byte) sent {
		sequence += 100
		return sent{timestamp: timestamp, payload: []byte{7, flags, 0xff, 0xff}, sequence: sequence}
	}
	r := &dtmf.Receiver{}
	if got := receive(r, 1, []sent{segment(5, 10), segment(5+0xffff, 10), segment(5+2*0xffff, 0x8a)}); got != "7" {
		t.Errorf("one long event: %q", got)
	}
	if got := receive(r, 1, []sent{segment(5+3*0xffff, 10)}); got != "7" {
		t.Errorf("another after its end: %q", got)
	}
}

// gateway produces the packets of an old gateway whose keys are pressed. Its sequence numbers increase with each packet, and also during
// pauses.
type gateway struct {
	sequence  uint16
	timestamp uint32
	packets   []sent
}

// put adds a packet of a key press that began at g.timestamp. The parameter after is the difference between the packet's timestamp and
// g.timestamp.
func (g *gateway) put(code byte, after, duration uint32, end, marker bool) {
	payload := []byte{code, 10, byte(duration >> 8), byte(duration)}
	if end {
		payload[1] |= 0x80
	}
	g.sequence++
	g.packets = append(g.packets, sent{timestamp: g.timestamp + after, payload: payload, first: marker, sequence: g.sequence})
}

func (g *gateway) pause(packets uint16) {
	g.sequence += packets
	g.timestamp += uint32(packets) * 160
}

// presses contains functions that each press a key for about 120 ms, as a certain type of gateway sends it.
var presses = map[string]func(g *gateway, code byte){
	"timestamps that grow": func(g *gateway, code byte) {
		for i := range uint32(6) {
			g.put(code, 160*i, 160*(i+1), i == 5, i == 0)
		}
		g.pause(6)
	},
	"timestamps that grow, no marker": func(g *gateway, code byte) {
		for i := range uint32(6) {
			g.put(code, 160*i, 160*(i+1), i == 5, false)
		}
		g.pause(6)
	},
	"timestamps that grow, three ends": func(g *gateway, code byte) {
		for i := range uint32(6) {
			g.put(code, 160*i, 160*(i+1), i == 5, i == 0)
		}
		g.put(code, 960, 960, true, false)
		g.put(code, 1120, 960, true, false)
		g.pause(8)
	},
	"segments of one packet": func(g *gateway, code byte) {
		for i := range uint32(6) {
			g.put(code, 160*i, 160, i == 5, i == 0)
		}
		g.pause(6)
	},
	"ends under another timestamp": func(g *gateway, code byte) {
		for i := range uint32(5) {
			g.put(code, 0, 160*(i+1), false, i == 0)
		}
		for i := range uint32(3) {
			g.put(code, 960+160*i, 960, true, false)
		}
		g.pause(8)
	},
	"one timestamp for all": func(g *gateway, code byte) {
		for i := range uint32(6) {
			g.put(code, 0, 160*(i+1), i == 5, i == 0)
		}
		g.put(code, 0, 960, true, false)
		g.sequence += 6
	},
	"one timestamp for all, no marker": func(g *gateway, code byte) {
		for i := range uint32(6) {
			g.put(code, 0, 160*(i+1), i == 5, false)
		}
		g.sequence += 6
	},
	"as the RFC says": func(g *gateway, code byte) {
		for i := range uint32(6) {
			g.put(code, 0, 160*(i+1), i == 5, i == 0)
		}
		g.put(code, 0, 960, true, false)
		g.put(code, 0, 960, true, false)
		g.pause(8)
	},
}

// TestOldGateways checks that each press is received as one digit for every type of gateway, even for the same key twice. A lost or a
// delayed packet must not change the digits, except the first packet that ends a press, whose loss is not tested.
func TestOldGateways(t *testing.T) {
	t.Parallel()
	for name, press := range presses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const keys = "112#22"
			g := gateway{sequence: 65530, timestamp: 1<<32 - 1000}
			for _, key := range keys {
				press(&g, byte(strings.IndexRune("0123456789*#", key)))
				g.pause(4)
				if strings.HasPrefix(name, "one timestamp") {
					g.timestamp -= 4 * 160
				}
			}
			if got := receive(&dtmf.Receiver{}, 1, g.packets); got != keys {
				t.Errorf("got %q, want %q", got, keys)
			}
			for i := range g.packets {
				lossy := slices.Delete(slices.Clone(g.packets), i, i+1)
				if end := g.packets[i].end(); end && !g.packets[max(i-1, 0)].end() {
					continue // for some gateways the only sign of the end of a press
				}
				if got := receive(&dtmf.Receiver{}, 1, lossy); got != keys {
					t.Errorf("without packet %d: got %q, want %q", i, got, keys)
				}
				swapped := slices.Clone(g.packets)
				if j := i + 1; j < len(swapped) && swapped[j].payload[0] == swapped[i].payload[0] && !swapped[j].first && !swapped[i].end() {
					swapped[i], swapped[j] = swapped[j], swapped[i]
				}
				if got := receive(&dtmf.Receiver{}, 1, swapped); got != keys {
					t.Errorf("packet %d late: got %q, want %q", i, got, keys)
				}
			}
		})
	}
}

func TestOtherEvents(t *testing.T) {
	t.Parallel()
	r := &dtmf.Receiver{}
	for _, payload := range [][]byte{nil, {1}, {1, 10, 0}, {16, 10, 0, 160}, {255, 0, 0, 0}} {
		if d, ok := r.Packet(dtmf.Header{SSRC: 1, Timestamp: 1}, payload); ok {
			t.Errorf("% x gives %q", payload, d)
		}
	}
}

func FuzzReceiver(f *testing.F) {
	f.Add(uint32(1), uint32(2), []byte{3, 0x8a, 0, 160})
	f.Fuzz(func(t *testing.T, ssrc, timestamp uint32, payload []byte) {
		r := &dtmf.Receiver{}
		h := dtmf.Header{SSRC: ssrc, Timestamp: timestamp}
		d, ok := r.Packet(h, payload)
		if ok && !strings.ContainsRune("0123456789*#ABCD", rune(d)) {
			t.Errorf("digit %q", d)
		}
		if _, again := r.Packet(h, payload); again {
			t.Error("the same packet began two digits")
		}
	})
}
