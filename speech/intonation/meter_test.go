package intonation_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/callwright/callwright/speech/intonation"
)

// voice is a synthetic voice: a function of the time in seconds gives its pitch in Hz, where 0 means a hiss, and its level relative to a loud
// voice in dB.
type voice func(at float64) (hertz, decibels float64)

// speak lets a Meter hear a voice of some seconds, and 200 ms of silence.
func speak(m *intonation.Meter, rate int, seconds float64, v voice) {
	random := rand.New(rand.NewPCG(28, 4))
	phase := 0.0
	samples := make([]int16, rate/50)
	for n := range int(seconds * 50) {
		for i := range samples {
			hertz, decibels := v(float64(n)/50 + float64(i)/float64(rate))
			level := 5000 * math.Pow(10, decibels/20)
			if hertz == 0 {
				samples[i] = int16(level * (2*random.Float64() - 1))
				continue
			}
			phase += 2 * math.Pi * hertz / float64(rate)
			samples[i] = int16(level * (math.Sin(phase) + math.Sin(2*phase)/2 + math.Sin(3*phase)/3) / 2)
		}
		m.Hear(samples, true)
	}
	clear(samples)
	for range 10 {
		m.Hear(samples, false)
	}
}

// ends returns a voice whose pitch moves by 0.15 octaves up and down for 1.5 s, and changes by some octaves in the following 200 ms.
func ends(hertz, octaves float64) voice {
	return func(at float64) (float64, float64) {
		if at < 1.5 {
			return hertz * math.Pow(2, 0.15*math.Sin(4*math.Pi*at)), 0
		}
		return hertz * math.Pow(2, octaves*min((at-1.5)/0.2, 1)), 0
	}
}

func TestContour(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		seconds float64
		voice   voice
		want    intonation.Contour
	}{
		{"a high voice that stays", 1.8, ends(240, 0), intonation.Level},
		{"a deep voice that stays", 1.8, ends(95, 0), intonation.Level},
		{"a high voice that falls", 1.8, ends(240, -0.5), intonation.Falling},
		{"a deep voice that falls", 1.8, ends(140, -0.4), intonation.Falling},
		{"a voice that falls a little", 1.8, ends(200, -0.05), intonation.Level},
		{"a voice that rises", 1.8, ends(180, 0.4), intonation.Rising},
		{"a voice that stays and fades", 1.8, func(at float64) (float64, float64) {
			hertz, _ := ends(200, 0)(at)
			return hertz, -60 * max(at-1.5, 0)
		}, intonation.Unknown},
		{"a voice that falls and fades", 1.8, func(at float64) (float64, float64) {
			hertz, _ := ends(200, -0.5)(at)
			return hertz, -60 * max(at-1.5, 0)
		}, intonation.Falling},
		{"a monotonous voice", 1.8, func(float64) (float64, float64) { return 200, 0 }, intonation.Unknown},
		{"a short voice", 0.2, ends(200, 0), intonation.Unknown},
		{"a hiss", 1.8, func(float64) (float64, float64) { return 0, 0 }, intonation.Unknown},
		{"a voice that ends in a long hiss", 2.1, func(at float64) (float64, float64) {
			if at > 1.7 {
				return 0, 0
			}
			return ends(200, 0)(at)
		}, intonation.Unknown},
		{"a voice that ends in a short hiss", 1.8, func(at float64) (float64, float64) {
			if at > 1.7 {
				return 0, -6
			}
			return ends(200, 0)(at)
		}, intonation.Level},
	}
	for _, rate := range []int{8000, 16000, 48000} {
		for _, c := range cases {
			t.Run(fmt.Sprintf("%s at %d Hz", c.name, rate), func(t *testing.T) {
				t.Parallel()
				m := intonation.New(rate)
				speak(m, rate, c.seconds, c.voice)
				if got := m.Contour(); got != c.want {
					t.Errorf("the contour is %s, want %s", got, c.want)
				}
			})
		}
	}
}

// TestMedianOfCall checks that the end of an utterance is compared with the voice of the whole call: a second utterance that is low
// throughout has fallen.
func TestMedianOfCall(t *testing.T) {
	t.Parallel()
	m := intonation.New(8000)
	speak(m, 8000, 3, ends(220, 0))
	speak(m, 8000, 0.4, func(float64) (float64, float64) { return 150, 0 })
	if got := m.Contour(); got != intonation.Falling {
		t.Errorf("the contour is %s, want falling", got)
	}
}

// TestBadFrames checks that frames that are empty, silent, short, too long or clipped are no pitch.
func TestBadFrames(t *testing.T) {
	t.Parallel()
	m := intonation.New(8000)
	clipped := make([]int16, 160)
	for i := range clipped {
		clipped[i] = math.MinInt16
	}
	for _, frame := range [][]int16{nil, make([]int16, 160), make([]int16, 7), make([]int16, 5000), clipped} {
		for range 60 {
			m.Hear(frame, true)
		}
		if got := m.Contour(); got != intonation.Unknown {
			t.Errorf("the contour of %d samples is %s, want unknown", len(frame), got)
		}
	}
}

func TestContourString(t *testing.T) {
	t.Parallel()
	for contour, want := range map[intonation.Contour]string{
		intonation.Unknown: "unknown", intonation.Falling: "falling", intonation.Level: "level", intonation.Rising: "rising",
	} {
		if got := contour.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// BenchmarkHear measures a frame of voice.
func BenchmarkHear(b *testing.B) {
	m := intonation.New(8000)
	samples := make([]int16, 160)
	for i := range samples {
		samples[i] = int16(5000 * math.Sin(2*math.Pi*200*float64(i)/8000))
	}
	b.ReportAllocs()
	for b.Loop() {
		m.Hear(samples, true)
	}
}
