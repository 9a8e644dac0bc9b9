package agentstest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/speech/activity"
)

// RunActivity tests a conversation.Activity. speech is a person's speech of at least 2 s at 8 kHz, with little noise and without long pauses.
func RunActivity(t *testing.T, newActivity func(rate int) conversation.Activity, speech []int16) {
	t.Helper()
	for _, rate := range []int{8000, 16000, 48000} {
		t.Run(fmt.Sprintf("%d Hz", rate), func(t *testing.T) {
			t.Parallel()
			hear := func(sound func(i int) float64, seconds float64) []activity.Verdict {
				return verdicts(newActivity(rate), rate, sound, int(seconds*50))
			}
			t.Run("speech", func(t *testing.T) { activitySpeech(t, hear, speech, rate) })
			t.Run("other sounds", func(t *testing.T) { activityOthers(t, hear, rate) })
			t.Run("odd frames", func(t *testing.T) { activityOdd(t, newActivity(rate), rate) })
		})
	}
}

// verdicts returns the verdicts on a number of frames. It reuses the frame's memory, and fails for verdicts out of range.
func verdicts(a conversation.Activity, rate int, sound func(i int) float64, frames int) []activity.Verdict {
	in := make([]int16, rate/50)
	var all []activity.Verdict
	for f := range frames {
		for i := range in {
			in[i] = int16(max(math.MinInt16, min(math.MaxInt16, sound(f*len(in)+i))))
		}
		all = append(all, a.Hear(in, nil))
	}
	return all
}

// hearing returns the verdicts on a sound of some seconds.
type hearing func(sound func(i int) float64, seconds float64) []activity.Verdict

// activitySpeech checks that an Activity detects speech at several levels, and that its verdicts are the same in another call.
func activitySpeech(t *testing.T, hear hearing, speech []int16, rate int) {
	t.Helper()
	fold := rate / 8000
	for _, dBFS := range []float64{-35, -22, -10} {
		gain := math.Pow(10, dBFS/20) * 32768 / loudRMS(speech)
		line := steady(-66)
		sound := func(i int) float64 {
			if i -= rate / 2; i < 0 || i/fold >= len(speech) {
				return line(i)
			}
			return float64(speech[i/fold])*gain + line(i)
		}
		seconds := 0.5 + float64(len(speech))/8000
		all := hear(sound, seconds)
		voice, loud, certain, latest := 0, 0, 0.0, 0.0
		for f, v := range all {
			if v.Certainty < 0 || v.Certainty > 1 {
				t.Fatalf("the certainty is %v", v.Certainty)
			}
			certain = max(certain, v.Certainty)
			if v.Level < dBFS-10 {
				continue
			}
			loud++
			latest = max(latest, v.Level)
			if v.Voice() {
				voice++
			} else if f < 25 {
				t.Errorf("frame %d before the speech has %.0f dBFS", f, v.Level)
			}
		}
		if loud < 20 || voice*10 < loud*8 || certain < 0.6 || latest > 0 {
			t.Errorf("speech at %.0f dBFS: %d of %d loud frames are voice; the greatest certainty is %.2f and level %.0f dBFS", dBFS, voice, loud, certain, latest)
		}
		line = steady(-66)
		if again := hear(sound, seconds); !slices.Equal(all, again) {
			t.Error("the same call has other verdicts")
		}
	}
}

// activityOthers checks that an Activity does not take silence, noise, digits and other tones for speech, and measures their levels.
func activityOthers(t *testing.T, hear hearing, rate int) {
	t.Helper()
	sine := func(hz float64) func(int) float64 {
		return func(i int) float64 { return 6000 * math.Sin(2*math.Pi*hz*float64(i)/float64(rate)) }
	}
	low, high, busyLow, busyHigh := sine(770), sine(1336), sine(480), sine(620)
	for _, c := range []struct {
		name  string
		sound func(int) float64
		from  int // first frame that must not be voice
		kind  activity.Kind
		level float64
	}{
		{"silence", func(int) float64 { return 0 }, 0, activity.Noise, -100},
		{"comfort noise", held(steady(-60), rate), 100, activity.Noise, -60},
		{"loud noise", held(steady(-25), rate), 100, activity.Noise, -25},
		{"the digit 5", func(i int) float64 { return low(i) + high(i) }, 0, activity.Tone, -14.7},
		{"a busy tone", func(i int) float64 { return busyLow(i) + busyHigh(i) }, 40, activity.Progress, -14.7},
		{"a fax machine's tone", sine(2100), 40, activity.Fax, -17.7},
	} {
		wrong, voice, level, all := 0, 0, 0.0, hear(c.sound, 4)
		for _, v := range all[c.from:] {
			level += v.Level / float64(len(all)-c.from)
			if v.Kind != c.kind {
				wrong++
			}
			if v.Voice() {
				voice++
			}
		}
		n := len(all) - c.from
		if voice*50 > n || wrong*10 > n || math.Abs(level-c.level) > 3 {
			t.Errorf("%s: of %d frames, %d are voice and %d are not %s; the level is %.1f dBFS, want about %.1f", c.name, n, voice, wrong, c.kind, level, c.level)
		}
	}
}

// activityOdd checks that an Activity accepts every frame and does not change it.
func activityOdd(t *testing.T, a conversation.Activity, rate int) {
	t.Helper()
	clipped := make([]int16, rate/50)
	for i := range clipped {
		clipped[i] = math.MaxInt16
		if i/(rate/800)%2 == 0 {
			clipped[i] = math.MinInt16
		}
	}
	constant := slices.Repeat([]int16{math.MaxInt16}, rate/50)
	before := slices.Concat(clipped, constant)
	for _, frame := range [][]int16{nil, {}, clipped, constant, nil, clipped} {
		for _, out := range [][]int16{nil, clipped, {}} {
			if v := a.Hear(frame, out); math.IsNaN(v.Level) || v.Level > 1 || v.Level < -100.01 {
				t.Errorf("the level of a frame of %d samples is %v", len(frame), v.Level)
			}
		}
	}
	if !slices.Equal(before, slices.Concat(clipped, constant)) {
		t.Error("Hear has changed a frame")
	}
}

// steady returns white noise with a level in dBFS. Each call returns the same noise.
func steady(dBFS float64) func(int) float64 {
	r := rand.New(rand.NewPCG(1, 2))
	a := 32768 * math.Pow(10, dBFS/20)
	return func(int) float64 { return r.NormFloat64() * a }
}

// held repeats each sample of a sound at 8 kHz, so that the sound has the given rate.
func held(sound func(int) float64, rate int) func(int) float64 {
	var v float64
	return func(i int) float64 {
		if i%(rate/8000) == 0 {
			v = sound(i)
		}
		return v
	}
}

// loudRMS returns the root mean square of the frames of 20 ms that are loud enough for speech.
func loudRMS(samples []int16) float64 {
	var sum, n float64
	for frame := range slices.Chunk(samples, 160) {
		var energy float64
		for _, s := range frame {
			energy += float64(s) * float64(s)
		}
		if energy > 160*200*200 {
			sum, n = sum+energy, n+160
		}
	}
	return math.Sqrt(sum / max(1, n))
}
