// Package sounds makes sounds for tests: speech of the program flite, noise and tones, at 8 kHz.
package sounds

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// Speech returns a text that the program flite speaks at 8 kHz, with a second of silence before and after it.
func Speech(t testing.TB, voice, text string) []int16 {
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

// RMS returns the root mean square of samples.
func RMS(p []int16) float64 {
	var sum float64
	for _, s := range p {
		sum += float64(s) * float64(s)
	}
	return math.Sqrt(sum / float64(max(1, len(p))))
}

// Scale scales samples so that their loud parts have a level in dBFS.
func Scale(p []int16, dBFS float64) []int16 {
	var loud []int16
	for i := 0; i+160 <= len(p); i += 160 {
		if RMS(p[i:i+160]) > 200 {
			loud = append(loud, p[i:i+160]...)
		}
	}
	factor := 32768 * math.Pow(10, dBFS/20) / RMS(loud)
	out := make([]int16, len(p))
	for i, s := range p {
		out[i] = Clip(float64(s) * factor)
	}
	return out
}

// Clip converts a sample, and limits it to 16 bits.
func Clip(v float64) int16 { return int16(max(-32768, min(32767, v))) }

// Mix adds a sound to the samples, and applies G.711 coding.
func Mix(p []int16, sound func(i int) float64) []int16 {
	out := make([]int16, len(p))
	for i, s := range p {
		out[i] = Mulaw(float64(s) + sound(i))
	}
	return out
}

// Mulaw returns a sample after G.711 coding and decoding.
func Mulaw(v float64) int16 {
	x := math.Abs(max(-1, min(1, v/32768)))
	y := math.Round(math.Log1p(255*x)/math.Log(256)*127) / 127
	return Clip(math.Copysign((math.Pow(256, y)-1)/255*32768, v))
}

// Amplitude returns the RMS amplitude of a sound with a level in dBFS. 0 dBFS is 32768.
func Amplitude(dBFS float64) float64 { return 32768 * math.Pow(10, dBFS/20) }

// White returns white noise with a level in dBFS. Each call returns the same noise.
func White(dBFS float64) func(int) float64 {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same noise each time
	a := Amplitude(dBFS)
	return func(int) float64 { return r.NormFloat64() * a }
}

// Brown returns noise with most energy at low frequencies, as in a car.
func Brown(dBFS float64) func(int) float64 {
	w := White(dBFS)
	var y float64
	return func(i int) float64 {
		y = 0.9*y + w(i)*math.Sqrt(1-0.81)
		return y
	}
}

// Tones returns the sum of sine tones. Each tone has the level dBFS.
func Tones(dBFS float64, hz ...float64) func(int) float64 {
	a := Amplitude(dBFS) * math.Sqrt2
	return func(i int) (v float64) {
		for _, f := range hz {
			v += a * math.Sin(2*math.Pi*f*float64(i)/8000)
		}
		return v
	}
}

// Both returns the sum of two sounds.
func Both(a, b func(int) float64) func(int) float64 {
	return func(i int) float64 { return a(i) + b(i) }
}
