package conversation_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/callwright/callwright/agents/conversation"
)

// flite returns a text that the program flite speaks at 8 kHz, with a second of silence before and after it.
func flite(t testing.TB, voice, text string) []int16 {
	t.Helper()
	file := filepath.Join(t.TempDir(), "speech.wav")
	if out, err := exec.CommandContext(t.Context(), "flite", "-voice", voice, "-t", text, "-o", file).CombinedOutput(); err != nil {
		t.Fatalf("flite does not speak; install it with apt-get install flite: %v %s", err, out)
	}
	wav, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rate := int(binary.LittleEndian.Uint32(wav[24:]))
	data := wav[bytes.Index(wav, []byte("data"))+8:]
	fold := rate / 8000
	var spoken []int16
	for i := 0; i+2*fold <= len(data); i += 2 * fold {
		sum := 0
		for k := range fold {
			sum += int(int16(binary.LittleEndian.Uint16(data[i+2*k:])))
		}
		spoken = append(spoken, int16(sum/fold))
	}
	silence := make([]int16, 8000)
	return slices.Concat(silence, spoken, silence)
}

// rms returns the root mean square of samples.
func rms(p []int16) float64 {
	var sum float64
	for _, s := range p {
		sum += float64(s) * float64(s)
	}
	return math.Sqrt(sum / float64(max(1, len(p))))
}

// scale scales samples so that their loud parts have a level in dBFS.
func scale(p []int16, dBFS float64) []int16 {
	var loud []int16
	for i := 0; i+160 <= len(p); i += 160 {
		if rms(p[i:i+160]) > 200 {
			loud = append(loud, p[i:i+160]...)
		}
	}
	factor := 32768 * math.Pow(10, dBFS/20) / rms(loud)
	out := make([]int16, len(p))
	for i, s := range p {
		out[i] = clip(float64(s) * factor)
	}
	return out
}

func clip(v float64) int16 { return int16(max(-32768, min(32767, v))) }

// mix adds a sound to the samples, and applies G.711 coding.
func mix(p []int16, sound func(i int) float64) []int16 {
	out := make([]int16, len(p))
	for i, s := range p {
		out[i] = mulaw(float64(s) + sound(i))
	}
	return out
}

// mulaw returns a sample after G.711 coding and decoding.
func mulaw(v float64) int16 {
	x := math.Abs(max(-1, min(1, v/32768)))
	y := math.Round(math.Log1p(255*x)/math.Log(256)*127) / 127
	return clip(math.Copysign((math.Pow(256, y)-1)/255*32768, v))
}

func level(dBFS float64) float64 { return 32768 * math.Pow(10, dBFS/20) }

// white returns white noise with a level in dBFS. Each call returns the same noise.
func white(dBFS float64) func(int) float64 {
	r := rand.New(rand.NewPCG(1, 2))
	a := level(dBFS)
	return func(int) float64 { return r.NormFloat64() * a }
}

// brown returns noise with most energy at low frequencies, as in a car.
func brown(dBFS float64) func(int) float64 {
	w := white(dBFS)
	var y float64
	return func(i int) float64 {
		y = 0.9*y + w(i)*math.Sqrt(1-0.81)
		return y
	}
}

// tones returns the sum of sine tones. Each tone has the level dBFS.
func tones(dBFS float64, hz ...float64) func(int) float64 {
	a := level(dBFS) * math.Sqrt2
	return func(i int) (v float64) {
		for _, f := range hz {
			v += a * math.Sin(2*math.Pi*f*float64(i)/8000)
		}
		return v
	}
}

func both(a, b func(int) float64) func(int) float64 {
	return func(i int) float64 { return a(i) + b(i) }
}

// detect returns the detector's verdict on every frame.
func detect(p []int16) []bool {
	d := conversation.NewDetector(8000)
	var out []bool
	for i := 0; i+160 <= len(p); i += 160 {
		out = append(out, d.Voiced(p[i:i+160]))
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
		speech := flite(t, voice, text)
		for _, c := range []struct {
			name    string
			speech  float64 // level in dBFS
			noise   func(int) float64
			recall  float64 // minimum share of voice in frames within 15 dB of the speech's level
			wrong   float64 // maximum share of voice in frames without speech
			longest int     // maximum gap in frames
		}{
			{"clean", -20, white(-90), 0.95, 0.01, 20},
			{"quiet speaker", -38, white(-70), 0.90, 0.01, 20},
			{"loud speaker", -8, white(-70), 0.95, 0.01, 20},
			{"white 20 dB", -20, white(-40), 0.80, 0.03, 24},
			{"white 10 dB", -20, white(-30), 0.60, 0.03, 24},
			{"white 5 dB", -20, white(-25), 0.45, 0.03, 24},
			{"car 10 dB", -20, brown(-30), 0.60, 0.05, 24},
			{"hum 50 Hz", -25, both(tones(-30, 50), white(-70)), 0.90, 0.02, 20},
			{"hum 60 Hz with harmonics", -25, both(tones(-40, 60, 120, 180, 300), white(-70)), 0.75, 0.02, 24},
		} {
			t.Run(voice+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				clean := scale(speech, c.speech)
				verdict := detect(mix(clean, c.noise))
				loud := func(i int) bool { return rms(clean[i*160:(i+1)*160]) > level(c.speech-15) }
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
		"silence":             {white(-96), 0, 0},
		"comfort noise":       {white(-60), 0, 0},
		"loud noise":          {white(-25), 85, 0.02},
		"car":                 {brown(-25), 85, 0.04},
		"hum":                 {tones(-20, 50), 10, 0},
		"dial tone":           {tones(-20, 350, 440), 85, 0},
		"DTMF 1":              {tones(-10, 697, 1209), 0, 0},
		"DTMF #":              {both(tones(-12, 941, 1477), white(-50)), 0, 0},
		"DTMF with less bass": {both(tones(-14, 852), tones(-11, 1336)), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verdict := detect(mix(silence, c.sound))
			if got := share(verdict[c.after:], func(int) bool { return true }); got > c.share {
				t.Errorf("%.3f of the frames are voice, want at most %.3f", got, c.share)
			}
		})
	}
	t.Run("noise that begins", func(t *testing.T) {
		t.Parallel()
		noise := white(-30)
		verdict := detect(mix(silence, func(i int) float64 {
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
	quiet := white(-70)
	hiss := tones(-30, 2300, 2700, 3100, 3300)
	verdict := detect(mix(make([]int16, 8000), func(i int) float64 {
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
	speech := scale(flite(t, "slt", "How are you today?"), -20)
	at8 := detect(speech)
	for _, rate := range []int{16000, 48000} {
		d := conversation.NewDetector(rate)
		wide := make([]int16, 0, rate/50)
		differ := 0
		for i, want := range at8 {
			wide = wide[:0]
			for _, s := range speech[i*160 : (i+1)*160] {
				for range rate / 8000 {
					wide = append(wide, s)
				}
			}
			if d.Voiced(wide) != want {
				differ++
			}
		}
		if differ > 0 {
			t.Errorf("%d of %d frames differ at %d Hz", differ, len(at8), rate)
		}
	}
}

func TestDetectorAllocatesNothing(t *testing.T) {
	d := conversation.NewDetector(8000)
	frame := make([]int16, 160)
	for i := range frame {
		frame[i] = int16(8000 * math.Sin(float64(i)/5))
	}
	if n := testing.AllocsPerRun(100, func() { d.Voiced(frame) }); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func BenchmarkDetector(b *testing.B) {
	for _, rate := range []int{8000, 16000, 48000} {
		b.Run(fmt.Sprintf("%dkHz", rate/1000), func(b *testing.B) {
			d := conversation.NewDetector(rate)
			var frames [50][]int16
			noise := white(-20)
			for i := range frames {
				frames[i] = make([]int16, rate/50)
				for k := range frames[i] {
					if i%2 == 0 { // alternately loud and soft, so that every branch runs
						frames[i][k] = clip(noise(k))
					} else {
						frames[i][k] = clip(noise(k) / 20)
					}
				}
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				d.Voiced(frames[i%len(frames)])
				i++
			}
		})
	}
}
