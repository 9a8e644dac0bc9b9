package profile_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/profile"
)

// person is a human speaker with recordings in Debian packages (scripts/install-deps.sh test). Praat measured the pitch; the syllables are
// counted in the transcription. See docs/performance.md.
type person struct {
	files     string // pattern of the paths
	pitch     float64
	syllables float64 // 0 if not counted
}

var persons = map[string]person{
	"a man reads a novel":     {"/usr/share/pocketsphinx/test/data/librivox/*.wav", 95.5, 99},
	"a woman speaks menus":    {"/usr/share/asterisk/sounds/en_US_f_Allison/demo-*.wav", 195.3, 0},
	"the woman's other menus": {"/usr/share/asterisk/sounds/en_US_f_Allison/vm-[a-i]*.wav", 199, 0},
}

func (p person) recordings(t *testing.T) []pcm.Audio {
	t.Helper()
	paths, err := filepath.Glob(p.files)
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatalf("no recordings of people at %s: scripts/install-deps.sh test installs them on Debian", p.files)
	}
	var out []pcm.Audio
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		audio, err := pcm.ReadWAV(bytes.NewReader(raw), 1<<24)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, audio)
	}
	return out
}

// joined returns a person's recordings as one mono recording.
func (p person) joined(t *testing.T) pcm.Audio {
	t.Helper()
	all := p.recordings(t)
	out := pcm.Audio{Rate: all[0].Rate, Channels: 1}
	for _, a := range all {
		out.Samples = append(out.Samples, a.Mono()...)
	}
	return out
}

func TestMeasurePeople(t *testing.T) {
	t.Parallel()
	for name, who := range persons {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := profile.Measure(who.joined(t))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", got)
			if math.Abs(got.Pitch/who.pitch-1) > 0.05 || got.Confidence < 0.7 || got.Spread < 1 || got.Spread > 6 {
				t.Errorf("%+v, want a pitch of %.1f Hz", got, who.pitch)
			}
			if counted := got.Tempo * got.Speech.Seconds(); who.syllables > 0 && math.Abs(counted/who.syllables-1) > 0.1 {
				t.Errorf("%.0f syllables are counted, and there are %.0f", counted, who.syllables)
			}
		})
	}
}

// TestMeasureOverATelephone checks the measurement over a telephone line. The fundamental frequency of a man is outside the line's band,
// but Measure must find the pitch. The tolerance is wide, because the line loses low, creaky sounds and some syllables.
func TestMeasureOverATelephone(t *testing.T) {
	t.Parallel()
	who := persons["a man reads a novel"]
	audio := who.joined(t)
	cmd := exec.CommandContext(t.Context(), "sox", "-t", "raw", "-r", fmt.Sprint(audio.Rate), "-e", "signed-integer", "-b", "16", "-c", "1", "-",
		"-t", "raw", "-r", "8000", "-e", "mu-law", "-b", "8", "-", "sinc", "300-3400")
	cmd.Stdin = bytes.NewReader(pcm.AppendBytes(nil, audio.Samples))
	raw, err := cmd.Output()
	if err != nil {
		t.Fatalf("sox: %v (scripts/install-deps.sh test installs it)", err)
	}
	wide, err := profile.Measure(audio)
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := profile.Measure(pcm.Audio{Rate: 8000, Channels: 1, Samples: pcm.FromMuLaw(nil, raw)})
	if err != nil || math.Abs(narrow.Pitch/wide.Pitch-1) > 0.06 || math.Abs(narrow.Tempo/wide.Tempo-1) > 0.2 {
		t.Errorf("%+v over a telephone, %+v before it, %v", narrow, wide, err)
	}
}

// voice returns vowels with a known pitch, which falls slightly within each vowel. tempo is the number of vowels per second. The vowels
// consist of pulses in a resonator.
func voice(hz, tempo float64, seconds, rate int) pcm.Audio {
	out := pcm.Audio{Rate: rate, Channels: 1, Samples: make([]int16, seconds*rate)}
	phase, y1, y2 := 0.0, 0.0, 0.0
	radius, angle := math.Exp(-math.Pi*120/float64(rate)), 2*math.Pi*700/float64(rate)
	for i := range out.Samples {
		_, within := math.Modf(float64(i) / float64(rate) * tempo)
		pulse := 0.0
		if phase += hz * (1.05 - 0.1*within) / float64(rate); phase >= 1 {
			phase, pulse = phase-1, 1
		}
		y := pulse + 2*radius*math.Cos(angle)*y1 - radius*radius*y2
		y1, y2 = y, y1
		out.Samples[i] = int16(12000 * math.Sin(angle) * y * (0.05 + 0.95*math.Sin(math.Pi*within)))
	}
	return out
}

func TestMeasureKnownVoices(t *testing.T) {
	t.Parallel()
	for _, rate := range []int{8000, 22050, 48000} {
		for _, hz := range []float64{70, 90, 120, 160, 220, 300, 340} {
			got, err := profile.Measure(voice(hz, 4, 5, rate))
			if err != nil || math.Abs(got.Pitch/hz-1) > 0.02 || math.Abs(got.Tempo/4-1) > 0.1 {
				t.Errorf("%.0f Hz at %d: %+v, %v", hz, rate, got, err)
			}
		}
	}
	for _, tempo := range []float64{2, 3, 5, 6.5} {
		if got, err := profile.Measure(voice(140, tempo, 6, 16000)); err != nil || math.Abs(got.Tempo/tempo-1) > 0.1 {
			t.Errorf("%.1f syllables a second: %+v, %v", tempo, got, err)
		}
	}
	long, err := profile.Measure(voice(140, 4, 90, 8000))
	if err != nil || long.Speech > profile.MaxAudio {
		t.Errorf("a long recording: %+v, %v", long, err)
	}
}

func TestMeasureRefuses(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	signal := func(f func(seconds float64) float64) pcm.Audio {
		out := pcm.Audio{Rate: 8000, Channels: 1, Samples: make([]int16, 8*8000)}
		for i := range out.Samples {
			out.Samples[i] = int16(f(float64(i) / 8000))
		}
		return out
	}
	sine := func(hz, s float64) float64 { return 5000 * math.Sin(2*math.Pi*hz*s) }
	for name, audio := range map[string]pcm.Audio{
		"nothing":           {Rate: 8000, Channels: 1},
		"silence":           signal(func(float64) float64 { return 0 }),
		"hum of a line":     signal(func(s float64) float64 { return sine(50, s) / 400 }),
		"noise":             signal(func(float64) float64 { return random.NormFloat64() * 3000 }),
		"a tone":            signal(func(s float64) float64 { return sine(200, s) }),
		"dialing":           signal(func(s float64) float64 { return sine(350, s) + sine(440, s) }),
		"a chord":           signal(func(s float64) float64 { return sine(261.6, s) + sine(329.6, s) + sine(392, s) }),
		"two seconds of it": voice(120, 4, 2, 8000),
		"too low a rate":    voice(120, 4, 5, 4000),
		"speech in silence": {Rate: 8000, Channels: 1, Samples: slices.Concat(make([]int16, 40000), voice(120, 4, 2, 8000).Samples, make([]int16, 40000))},
	} {
		got, err := profile.Measure(audio)
		if callwright.CodeOf(err) != callwright.CodeBadRequest {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func FuzzMeasure(f *testing.F) {
	f.Add(pcm.AppendBytes(nil, voice(120, 4, 1, 8000).Samples), uint16(8000))
	f.Fuzz(func(t *testing.T, raw []byte, rate uint16) {
		samples := slices.Repeat(pcm.AppendSamples(nil, raw[:min(len(raw), 16000)]), 4)
		p, err := profile.Measure(pcm.Audio{Rate: int(rate), Channels: 1, Samples: samples})
		if err == nil && !(p.Pitch >= 59 && p.Pitch <= 405 && p.Tempo > 1 && p.Spread > 0 && p.Confidence >= 0 && p.Confidence <= 1 && p.Speech >= profile.MinSpeech) {
			t.Errorf("%+v", p)
		}
	})
}

func BenchmarkMeasure(b *testing.B) {
	audio := voice(140, 4, 10, 16000)
	for b.Loop() {
		if _, err := profile.Measure(audio); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(10*float64(time.Second)*float64(b.N)/float64(b.Elapsed()), "audio-s/s")
}
