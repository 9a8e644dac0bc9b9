package conversation_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
)

// gains returns the gain of each 20 ms of a played text in dB, from its first sample on, and the largest change of the gain between
// samples. It fails the test if the text was not played exactly once and without a gap.
func gains(t *testing.T, played []int16, text string) (levels []float64, step float64) {
	t.Helper()
	original := agentstest.Voice(text, 8000)
	start := 0
	for start < len(played) && played[start] == 0 {
		start++
	}
	played = played[start:]
	if len(played) < len(original) {
		t.Fatalf("%d samples were played, want %d", len(played), len(original))
	}
	last, lastAt := 1.0, 0
	for i, want := range original {
		if math.Abs(float64(want)) < 2000 {
			continue
		}
		gain := float64(played[i]) / float64(want)
		step = max(step, math.Abs(gain-last)/float64(max(1, i-lastAt)))
		last, lastAt = gain, i
		if n := i / 160; n >= len(levels) {
			for len(levels) <= n {
				levels = append(levels, 20*math.Log10(gain))
			}
		} else {
			levels[n] = min(levels[n], 20*math.Log10(gain))
		}
	}
	return levels, step
}

// TestDuck checks that a voice makes the agent softer by 12 dB before it interrupts, and that the agent is as loud as before within 200 ms
// after the voice, without a click and without a lost or repeated sample.
func TestDuck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		level  conversation.Interruptibility
		voice  time.Duration
		softer bool
	}{
		"a short voice":                 {conversation.NormallyInterrupted, 180 * time.Millisecond, true},
		"a very short voice":            {conversation.NormallyInterrupted, 80 * time.Millisecond, false},
		"a voice over a reluctant one":  {conversation.ReluctantlyInterrupted, 360 * time.Millisecond, false},
		"a voice over one with a floor": {conversation.NeverInterrupted, 360 * time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := readsAloud()
			r := overReading(t, conversation.Config{Interruptibility: c.level, Interruption: 400 * time.Millisecond}, b,
				func(_ context.Context, p *agentstest.Phone) { p.Play(buzz(c.voice)) })
			checkReadOnce(t, r, b, 0)
			levels, step := gains(t, r.phone.Played(), reading)
			softest, from, to := 0.0, 0, 0
			for i, level := range levels {
				softest = min(softest, level)
				if level < -1 {
					if from == 0 {
						from = i
					}
					to = i
				}
			}
			if (softest < -11.9) != c.softer || softest < -12.2 {
				t.Errorf("the softest 20 ms are at %.1f dB", softest)
			}
			if step > 0.75/80+0.002 {
				t.Errorf("the gain changes by %.4f within a sample", step)
			}
			if !c.softer {
				return
			}
			began, ended := time.Duration(from)*20*time.Millisecond, time.Duration(to+1)*20*time.Millisecond
			if began > 2200*time.Millisecond || ended > 2*time.Second+c.voice+220*time.Millisecond {
				t.Errorf("softer from %s to %s", began, ended)
			}
		})
	}
}

// TestPauseAfterWord checks that a held answer finishes a word that ends soon, and continues with the next word.
func TestPauseAfterWord(t *testing.T) {
	t.Parallel()
	whole := 0
	for early := range 20 {
		b := readsAloud()
		r := run(t, conversation.Config{}, b, func(ctx context.Context, p *agentstest.Phone) {
			must(t, p.WaitElapsed(ctx, 2*time.Second+time.Duration(early)*20*time.Millisecond))
			p.Play(buzz(240 * time.Millisecond))
		})
		checkReadOnce(t, r, b, 1)
		if len(r.entries[0].Holds) != 1 {
			t.Errorf("holds %+v", r.entries[0].Holds)
		}
		if r.phone.Heard() == reading {
			whole++
		}
	}
	// A space follows at most 5 letters of 60 ms each, and a word may end up to 60 ms after the voice was long enough.
	if whole < 6 {
		t.Errorf("%d of 20 pauses were after a word", whole)
	}
}
