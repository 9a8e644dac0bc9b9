package activity_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/callwright/callwright/internal/sounds"
	"github.com/callwright/callwright/speech/activity"
	"github.com/callwright/callwright/speech/activity/silero"
)

// detect returns the detector's verdict on every frame.
func detect(p []int16) []bool {
	d := activity.New(8000, nil)
	var out []bool
	for i := 0; i+160 <= len(p); i += 160 {
		out = append(out, d.Hear(p[i:i+160], nil).Voice())
	}
	return out
}

// share returns the share of the frames selected by truth that the detector classifies as voice.
func share(verdict []bool, truth func(frame int) bool) float64 {
	hits, all := 0, 0
	for i, v := range verdict {
		if truth(i) {
			all++
			if v {
				hits++
			}
		}
	}
	return float64(hits) / float64(max(1, all))
}

// longestGap returns the maximum number of consecutive frames without voice between two frames with voice.
func longestGap(verdict []bool) int {
	longest, gap, begun := 0, 0, false
	for _, v := range verdict {
		if v {
			if begun {
				longest = max(longest, gap)
			}
			gap, begun = 0, true
			continue
		}
		gap++
	}
	return longest
}

// TestDetectorHearsSpeech checks that most loud frames of speech and few frames of noise count as voice, and that no gap within a sentence
// is long enough to end a turn.
func TestDetectorHearsSpeech(t *testing.T) {
	t.Parallel()
	const text = "I would like to come on Tuesday afternoon, if you have something after four o'clock."
	for _, voice := range []string{"slt", "rms", "awb"} {
		speech := sounds.Speech(t, voice, text)
		for _, c := range []struct {
			name    string
			speech  float64 // level in dBFS
			noise   func(int) float64
			recall  float64 // minimum share of voice in frames within 15 dB of the speech's level
			wrong   float64 // maximum share of voice in frames without speech
			longest int     // maximum gap in frames
		}{
			{"clean", -20, sounds.White(-90), 0.95, 0.01, 20},
			{"quiet speaker", -38, sounds.White(-70), 0.90, 0.01, 20},
			{"loud speaker", -8, sounds.White(-70), 0.95, 0.01, 20},
			{"white 20 dB", -20, sounds.White(-40), 0.80, 0.03, 24},
			{"white 10 dB", -20, sounds.White(-30), 0.60, 0.03, 24},
			{"white 5 dB", -20, sounds.White(-25), 0.45, 0.03, 24},
			{"car 10 dB", -20, sounds.Brown(-30), 0.60, 0.05, 24},
			{"hum 50 Hz", -25, sounds.Both(sounds.Tones(-30, 50), sounds.White(-70)), 0.90, 0.02, 20},
			{"hum 60 Hz with harmonics", -25, sounds.Both(sounds.Tones(-40, 60, 120, 180, 300), sounds.White(-70)), 0.75, 0.02, 24},
		} {
			t.Run(voice+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				clean := sounds.Scale(speech, c.speech)
				verdict := detect(sounds.Mix(clean, c.noise))
				loud := func(i int) bool { return sounds.RMS(clean[i*160:(i+1)*160]) > sounds.Amplitude(c.speech-15) }
				quiet := func(i int) bool { return i < 45 || i > len(verdict)-45 }
				recall, wrong, gap := share(verdict, loud), share(verdict, quiet), longestGap(verdict)
				t.Logf("recall %.2f, false %.3f, longest gap %d frames", recall, wrong, gap)
				if recall < c.recall || wrong > c.wrong || gap > c.longest {
					t.Errorf("recall %.2f (want %.2f), false %.3f (want %.3f), longest gap %d frames (want %d)",
						recall, c.recall, wrong, c.wrong, gap, c.longest)
				}
			})
		}
	}
}

// TestDetectorHearsNoVoice checks that sounds other than speech do not count as voice after the noise floor had time to rise.
func TestDetectorHearsNoVoice(t *testing.T) {
	t.Parallel()
	silence := make([]int16, 8000*5)
	for name, c := range map[string]struct {
		sound func(int) float64
		after int // in frames
		share float64
	}{
		"silence":             {sounds.White(-96), 0, 0},
		"comfort noise":       {sounds.White(-60), 0, 0},
		"loud noise":          {sounds.White(-25), 85, 0.02},
		"car":                 {sounds.Brown(-25), 85, 0.04},
		"hum":                 {sounds.Tones(-20, 50), 10, 0},
		"dial tone":           {sounds.Tones(-20, 350, 440), 85, 0},
		"DTMF 1":              {sounds.Tones(-10, 697, 1209), 0, 0},
		"DTMF #":              {sounds.Both(sounds.Tones(-12, 941, 1477), sounds.White(-50)), 0, 0},
		"DTMF with less bass": {sounds.Both(sounds.Tones(-14, 852), sounds.Tones(-11, 1336)), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verdict := detect(sounds.Mix(silence, c.sound))
			if got := share(verdict[c.after:], func(int) bool { return true }); got > c.share {
				t.Errorf("%.3f of the frames are voice, want at most %.3f", got, c.share)
			}
		})
	}
	t.Run("noise that begins", func(t *testing.T) {
		t.Parallel()
		noise := sounds.White(-30)
		verdict := detect(sounds.Mix(silence, func(i int) float64 {
			if i < 8000 {
				return 0
			}
			return noise(i)
		}))
		if got := share(verdict[150:], func(int) bool { return true }); got > 0.03 {
			t.Errorf("%.3f of the frames are voice two seconds later", got)
		}
	})
}

// TestDetectorHearsHiss checks that a consonant without energy in the band of vowels counts as voice.
func TestDetectorHearsHiss(t *testing.T) {
	t.Parallel()
	quiet := sounds.White(-70)
	hiss := sounds.Tones(-30, 2300, 2700, 3100, 3300)
	verdict := detect(sounds.Mix(make([]int16, 8000), func(i int) float64 {
		if i < 6400 {
			return quiet(i)
		}
		return quiet(i) + hiss(i)
	}))
	if before, in := share(verdict[:40], func(int) bool { return true }), share(verdict[40:], func(int) bool { return true }); before > 0 || in < 0.9 {
		t.Errorf("%.2f of the quiet frames and %.2f of the hiss are voice", before, in)
	}
}

// TestDetectorRates checks that the verdicts are the same at every sample rate.
func TestDetectorRates(t *testing.T) {
	t.Parallel()
	speech := sounds.Scale(sounds.Speech(t, "slt", "How are you today?"), -20)
	at8 := detect(speech)
	for _, rate := range []int{16000, 48000} {
		d := activity.New(rate, nil)
		wide := make([]int16, 0, rate/50)
		differ := 0
		for i, want := range at8 {
			wide = wide[:0]
			for _, s := range speech[i*160 : (i+1)*160] {
				for range rate / 8000 {
					wide = append(wide, s)
				}
			}
			if d.Hear(wide, nil).Voice() != want {
				differ++
			}
		}
		if differ > 0 {
			t.Errorf("%d of %d frames differ at %d Hz", differ, len(at8), rate)
		}
	}
}

func TestDetectorAllocatesNothing(t *testing.T) {
	d := activity.New(8000, nil)
	frame := make([]int16, 160)
	for i := range frame {
		frame[i] = int16(8000 * math.Sin(float64(i)/5))
	}
	if n := testing.AllocsPerRun(100, func() { d.Hear(frame, nil) }); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func BenchmarkDetector(b *testing.B) {
	for _, rate := range []int{8000, 16000, 48000} {
		b.Run(fmt.Sprintf("%dkHz", rate/1000), func(b *testing.B) {
			d := activity.New(rate, nil)
			var frames [50][]int16
			noise := sounds.White(-20)
			for i := range frames {
				frames[i] = make([]int16, rate/50)
				for k := range frames[i] {
					if i%2 == 0 { // alternately loud and soft, so that every branch runs
						frames[i][k] = sounds.Clip(noise(k))
					} else {
						frames[i][k] = sounds.Clip(noise(k) / 20)
					}
				}
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				d.Hear(frames[i%len(frames)], nil)
				i++
			}
		})
	}
}

// TestWordAfterSilence checks that a single word counts as voice after speech and a long silence, in which the network would become deaf.
func TestWordAfterSilence(t *testing.T) {
	t.Parallel()
	before := sounds.Scale(sounds.Speech(t, "kal", "Right, yes please, I would like that."), -18)
	heard, all := 0, 0
	for _, voice := range []string{"kal", "slt", "rms", "awb"} {
		for _, text := range []string{"two", "stop", "six", "eight", "cat"} {
			word := sounds.Scale(sounds.Speech(t, voice, text), -16)
			line := sounds.Mix(slices.Concat(before, make([]int16, 2*8000), word), sounds.White(-65))
			d, voiced := activity.New(8000, silero.New()), 0
			for i := 0; i+160 <= len(line); i += 160 {
				if v := d.Hear(line[i:i+160], nil); v.Voice() && i > len(line)-len(word) {
					voiced++
				}
			}
			if all++; voiced >= 4 {
				heard++
			} else {
				t.Logf("%q of %s has %d frames of voice", text, voice, voiced)
			}
		}
	}
	if heard < all {
		t.Errorf("%d of %d words are voice", heard, all)
	}
}
