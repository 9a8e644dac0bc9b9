package jitter_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/jitter"
)

func TestVerdicts(t *testing.T) {
	t.Parallel()
	b := jitter.NewBuffer(8000, 20*ms, 20*ms)
	push := func(now time.Duration, sequence uint16, want jitter.Verdict) {
		t.Helper()
		if got := b.Push(now, sequence, uint32(sequence)*160, 0, []byte{1}); got != want {
			t.Errorf("packet %d: %d, want %d", sequence, got, want)
		}
	}
	step := func(now time.Duration, want jitter.Kind) {
		t.Helper()
		s := b.Next(now)
		if s.Kind != want {
			t.Errorf("at %s: %d, want %d", now, s.Kind, want)
		}
		if s.Kind == jitter.Audio {
			b.Advance(160)
		}
	}
	step(0, jitter.Idle)
	push(10*ms, 10, jitter.Queued)
	push(10*ms, 10, jitter.Duplicate)
	push(11*ms, 9, jitter.Queued) // overtaken by packet 10 before the playout has started
	step(20*ms, jitter.Idle)
	step(40*ms, jitter.Audio) // packet 9
	push(41*ms, 9, jitter.Late)
	push(50*ms, 12, jitter.Queued)
	step(60*ms, jitter.Audio) // packet 10
	step(80*ms, jitter.Lost)  // packet 11
	push(81*ms, 11, jitter.Late)
	step(100*ms, jitter.Audio) // packet 12
	step(120*ms, jitter.Lost)
}

// TestEventsInTheSequence checks that events, whose packets repeat an old timestamp, count neither as audio nor as lost audio.
func TestEventsInTheSequence(t *testing.T) {
	t.Parallel()
	said := tone(40 * frame)
	all := packets(said, frame, 65_520, 1, steady)
	for i := 20; i < 27; i++ {
		all[i].timestamp, all[i].payload = all[20].timestamp, nil
	}
	heard := play(newPlayer(40*ms, 40*ms), all, 0, 50)
	want := slices.Clone(said)
	clear(want[20*frame : 27*frame])
	if indexOf(heard, want) < 0 {
		t.Error("the event is not heard as silence between the audio")
	}
}

// TestPauseOfTheSender checks the playout of a sender whose timestamp advances in a pause without packets. The pause must keep its length,
// and the audio after it must be exact.
func TestPauseOfTheSender(t *testing.T) {
	t.Parallel()
	said := tone(60 * frame)
	all := packets(said, frame, 1, 1, steady)
	for i := 30; i < len(all); i++ {
		all[i].sequence -= 20
	}
	all = slices.Delete(all, 10, 30)
	heard := play(newPlayer(40*ms, 40*ms), all, 0, 70)
	first, second := indexOf(heard, said[:10*frame]), indexOf(heard, said[30*frame+32:])
	if first < 0 || second-first != 30*frame+32 {
		t.Errorf("the parts are at %d and %d", first, second)
	}
}

func TestPeerStartsItsClockAnew(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(i int, a *arrival){
		"far ahead":   func(_ int, a *arrival) { a.timestamp += 1 << 30 },
		"far back":    func(_ int, a *arrival) { a.timestamp -= 1 << 30 },
		"stood still": func(_ int, a *arrival) { a.timestamp -= 8000 * 5; a.sequence -= 250 },
		"a bit":       func(_ int, a *arrival) { a.timestamp -= 3200 },
		"sequence":    func(_ int, a *arrival) { a.sequence += 30_000 },
		"and back":    func(_ int, a *arrival) { a.sequence -= 30_000 },
	} {
		said := tone(400 * frame)
		all := packets(said, frame, 65_500, 1, steady)
		for i := 300; i < len(all); i++ {
			change(i, &all[i])
		}
		all = slices.Delete(all, 50, 300) // five seconds without a packet
		heard := play(newPlayer(20*ms, 120*ms), all, 0, 420)
		if indexOf(heard, said[:50*frame]) < 0 || indexOf(heard, said[310*frame:390*frame]) < 0 {
			t.Errorf("%s: not both parts were heard", name)
		}
	}
}

// TestStall checks that the audio is exact again after a stall, at whose end all delayed packets arrive in a burst.
func TestStall(t *testing.T) {
	t.Parallel()
	for _, stall := range []time.Duration{100 * ms, 300 * ms, 900 * ms, 3 * time.Second} {
		said := tone(600 * frame)
		until := 4*time.Second + stall
		all := packets(said, frame, 1, 1, func(i int) time.Duration {
			sent := time.Duration(i+1) * 20 * ms
			if sent < 4*time.Second {
				return 0
			}
			return max(until-sent, 0)
		})
		p := newPlayer(20*ms, 120*ms)
		heard := play(p, all, 0, 620)
		if indexOf(heard, said[550*frame:590*frame]) < 0 {
			t.Errorf("after a stall of %s the audio is not exact again", stall)
		}
	}
}

func TestReset(t *testing.T) {
	t.Parallel()
	p := newPlayer(20*ms, 20*ms)
	play(p, packets(tone(20*frame), frame, 1, 1, steady), 0, 10)
	p.Reset()
	if got := p.Frame(nil, 220*ms); !slices.Equal(got, make([]int16, frame)) {
		t.Error("something of the former source is played")
	}
	other := tone(20 * frame)
	all := packets(other, frame, 50_000, 1<<31, func(int) time.Duration { return time.Second })
	if heard := play(p, all, time.Second, 40); indexOf(heard, other) < 0 {
		t.Error("the other source is not heard")
	}
}

func TestConcealment(t *testing.T) {
	t.Parallel()
	// The concealment must continue a pure tone of 200 Hz in phase while it fades.
	said := make([]int16, 60*frame)
	for i := range said {
		said[i] = int16(8000 * math.Sin(2*math.Pi*float64(i)/40))
	}
	all := packets(said, frame, 1, 1, steady)
	all = slices.Delete(all, 30, 40)
	heard := play(newPlayer(20*ms, 20*ms), all, 0, 70)
	at := indexOf(heard, said[:30*frame])
	if at < 0 {
		t.Fatal("the tone was not heard")
	}
	gap := heard[at+30*frame : at+40*frame]
	if !slices.Equal(gap[:80], said[30*frame:30*frame+80]) {
		t.Error("the first 10 ms are not the tone going on")
	}
	if early, late := power(gap[80:160]), power(gap[320:400]); early < 4*late || late == 0 {
		t.Errorf("it does not fade: %.0f, then %.0f", early, late)
	}
	if power(gap[480:]) != 0 {
		t.Error("after 60 ms it is not silent")
	}
	if !slices.Equal(heard[at+40*frame+32:at+50*frame], said[40*frame+32:50*frame]) {
		t.Error("4 ms after the loss the audio is not exact again")
	}
	if loudest := slices.Max(gap); loudest > 8000 {
		t.Errorf("louder than the tone: %d", loudest)
	}
}

func power(pcm []int16) float64 {
	var sum float64
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	return sum / float64(len(pcm))
}

func TestUndecodablePacketIsSkipped(t *testing.T) {
	t.Parallel()
	said := tone(20 * frame)
	all := packets(said, frame, 1, 1, steady)
	all[10].payload = []byte{1}
	heard := play(newPlayer(20*ms, 20*ms), all, 0, 30)
	if at := indexOf(heard, said[:10*frame]); at < 0 || !slices.Equal(heard[at+11*frame+32:at+20*frame], said[11*frame+32:]) {
		t.Error("what is around it is not in its place")
	}
}
