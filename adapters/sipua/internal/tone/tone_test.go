package tone_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua/internal/tone"
)

const alphabet = "123A456B789C*0#D"

// line collects the audio of a telephone line.
type line struct {
	rate int
	pcm  []int16
}

// press appends the two tones of a key. low and high are their amplitudes. off is the relative error of both frequencies.
func (l *line) press(key byte, d time.Duration, low, high, off float64) {
	i := strings.IndexByte(alphabet, key)
	row, column := []float64{697, 770, 852, 941}[i/4]*(1+off), []float64{1209, 1336, 1477, 1633}[i%4]*(1+off)
	for n := range int(d * time.Duration(l.rate) / time.Second) {
		at := 2 * math.Pi * float64(n) / float64(l.rate)
		l.pcm = append(l.pcm, int16(low*math.Sin(row*at)+high*math.Sin(column*at)))
	}
}

func (l *line) pause(d time.Duration) {
	l.pcm = append(l.pcm, make([]int16, d*time.Duration(l.rate)/time.Second)...)
}

// noise adds Gaussian noise to all samples. The parameter amplitude is its standard deviation.
func (l *line) noise(amplitude float64) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range l.pcm {
		l.pcm[i] += int16(amplitude * r.NormFloat64())
	}
}

// heard returns the digits that a detector finds in the audio, which it receives in frames of 20 ms.
func (l *line) heard() string {
	d, frame := tone.New(l.rate), l.rate/50
	var digits []byte
	for from := 0; from < len(l.pcm); from += frame {
		digits = append(digits, d.Feed(l.pcm[from:min(from+frame, len(l.pcm))])...)
	}
	return string(digits)
}

// TestKeys checks that each key press is detected once: with the shortest presses and pauses, at any offset in the frames, with noise, and
// with tones of different strength.
func TestKeys(t *testing.T) {
	t.Parallel()
	for _, rate := range []int{8000, 16000, 48000} {
		for offset := 0; offset < 20; offset += 3 {
			for name, how := range map[string]struct {
				press, pause   time.Duration
				low, high, off float64
				noise          float64
			}{
				"short":       {50 * time.Millisecond, 50 * time.Millisecond, 6000, 6000, 0, 0},
				"long":        {800 * time.Millisecond, 100 * time.Millisecond, 6000, 6000, 0, 0},
				"quiet":       {80 * time.Millisecond, 60 * time.Millisecond, 400, 400, 0, 10},
				"loud":        {80 * time.Millisecond, 60 * time.Millisecond, 15000, 15000, 0, 0},
				"noisy":       {80 * time.Millisecond, 60 * time.Millisecond, 6000, 6000, 0, 900},
				"twisted":     {80 * time.Millisecond, 60 * time.Millisecond, 3000, 6000, 0, 0},
				"twisted low": {80 * time.Millisecond, 60 * time.Millisecond, 6000, 3000, 0, 0},
				"off by 1.5%": {80 * time.Millisecond, 60 * time.Millisecond, 6000, 6000, 0.015, 0},
			} {
				l := line{rate: rate}
				l.pause(time.Duration(offset) * time.Millisecond)
				const keys = "1A5599#*0DDD2"
				for i := range len(keys) {
					l.press(keys[i], how.press, how.low, how.high, how.off)
					l.pause(how.pause)
				}
				l.noise(how.noise)
				if got := l.heard(); got != keys {
					t.Errorf("%s at %d Hz, %d ms: %q", name, rate, offset, got)
				}
			}
		}
	}
}

// TestNoKeys checks that single tones, tones between two keys, short tones, noise and speech are not detected as keys.
func TestNoKeys(t *testing.T) {
	t.Parallel()
	single := line{rate: 8000}
	single.press('1', time.Second, 6000, 0, 0)
	single.press('1', time.Second, 0, 6000, 0)
	off := line{rate: 8000}
	off.press('5', time.Second, 6000, 6000, 0.05)
	short := line{rate: 8000}
	short.press('5', 20*time.Millisecond, 6000, 6000, 0)
	short.pause(time.Second)
	hiss := line{rate: 8000}
	hiss.pause(20 * time.Second)
	hiss.noise(4000)
	for name, l := range map[string]line{"one tone": single, "between keys": off, "too short": short, "noise": hiss, "voice": voice(t)} {
		if got := l.heard(); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// voice returns speech of the synthesizer flite.
func voice(t *testing.T) line {
	t.Helper()
	file := filepath.Join(t.TempDir(), "voice.wav")
	const text = "A caller speaks for a while, slowly and quickly, in high and low tones, and presses no key at all. Oh no, you know how to " +
		"go home alone. She sees the sea. My mother's aunt bought two thousand and eleven blue shoes, didn't she? Hello? Hmm, well, yeah."
	if out, err := exec.CommandContext(t.Context(), "flite", "-voice", "kal", "-t", strings.Repeat(text+" ", 3), "-o", file).CombinedOutput(); err != nil {
		t.Fatalf("flite: %v\n%s", err, out)
	}
	wav, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const header = 44
	l := line{rate: 8000}
	for i := header; i+1 < len(wav); i += 2 {
		l.pcm = append(l.pcm, int16(binary.LittleEndian.Uint16(wav[i:])))
	}
	return l
}
