package sounds

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Babble returns the noise of several people who speak at the same time, with a level in dBFS. It repeats after about 20 s.
func Babble(t testing.TB, dBFS float64) func(int) float64 {
	t.Helper()
	var voices [][]int16
	for _, v := range [][2]string{
		{"slt", "We went there last summer with the children, and it rained every single day until we left for the mountains."},
		{"rms", "The report says that sales have grown again, but nobody knows whether that will last until the end of the year."},
		{"awb", "If you ask me, the second house was much nicer than the first one, even though the garden was rather small."},
		{"kal16", "My brother works for a company which builds machines for bakeries all over the country and in the north."},
		{"slt", "Could you hand me the other folder, please, because this one only contains the letters of the previous month."},
	} {
		spoken := Speech(t, v[0], v[1])
		voices = append(voices, spoken[8000:len(spoken)-8000])
	}
	sum := make([]float64, len(voices[0])*3)
	var power float64
	for n, v := range voices {
		loudness := RMS(v)
		for i := range sum {
			sum[i] += float64(v[(i+n*5000)%len(v)]) / loudness
		}
	}
	for _, v := range sum {
		power += v * v
	}
	a := Amplitude(dBFS) / math.Sqrt(power/float64(len(sum)))
	return func(i int) float64 { return sum[i%len(sum)] * a }
}

// Music returns a piece of music with a level in dBFS: chords with vibrato, a bass, a melody and drums.
func Music(dBFS float64) func(int) float64 {
	chords := [][3]float64{{220, 277, 330}, {196, 247, 294}, {175, 220, 262}, {165, 208, 247}}
	melody := []float64{440, 494, 554, 659, 587, 494, 523, 440}
	hiss := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // noise
	a := Amplitude(dBFS) / 1.3
	return func(i int) float64 {
		t := float64(i) / 8000
		beat := math.Mod(t, 0.25) / 0.25
		chord := chords[int(t)%len(chords)]
		v := 0.0
		for n, hz := range chord {
			vibrato := 0.003 * math.Sin(2*math.Pi*(5+float64(n))*t) * 8
			for k := 1.0; k <= 4; k++ {
				v += math.Sin(2*math.Pi*hz*k*t+vibrato*k) / k / 2
			}
		}
		v += 0.8 * math.Sin(2*math.Pi*chord[0]/2*t) * math.Exp(-2*beat)
		note := melody[int(t/0.25)%len(melody)]
		v += 0.7 * math.Sin(2*math.Pi*note*t) * math.Exp(-3*beat)
		if int(t/0.25)%2 == 1 {
			v += hiss.NormFloat64() * math.Exp(-12*beat)
		}
		return v * a
	}
}

// Cough returns a cough with a level in dBFS: one or two bursts of filtered noise that decay. The seed selects its shape.
func Cough(seed uint64, dBFS float64) []int16 {
	r := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // noise
	a := Amplitude(dBFS) * 2
	var out []int16
	for range 1 + r.IntN(2) {
		length := 1200 + r.IntN(1600) // 150 to 350 ms
		center, width := 500+r.Float64()*900, 0.80+r.Float64()*0.12
		var y1, y2 float64
		for i := range length {
			t := float64(i) / float64(length)
			envelope := min(1, float64(i)/80) * math.Exp(-3.5*t)
			y := r.NormFloat64()*(1-width) + 2*width*math.Cos(2*math.Pi*center/8000)*y1 - width*width*y2
			y1, y2 = y, y1
			out = append(out, Clip((y*2+r.NormFloat64()*0.15)*envelope*a))
		}
		out = append(out, make([]int16, 400+r.IntN(1200))...)
	}
	return out
}

// Breath returns a breath into the phone with a level in dBFS: half a second of noise that swells and fades.
func Breath(seed uint64, dBFS float64) []int16 {
	r := rand.New(rand.NewPCG(seed, 8)) //nolint:gosec // noise
	a := Amplitude(dBFS) * 3
	out := make([]int16, 4000)
	var y float64
	for i := range out {
		y = 0.7*y + 0.3*r.NormFloat64()
		out[i] = Clip(y * a * math.Sin(math.Pi*float64(i)/float64(len(out))))
	}
	return out
}

// Typing returns two seconds of a keyboard with a peak level in dBFS: clicks that decay within 10 to 30 ms, five to eight per second.
func Typing(seed uint64, dBFS float64) []int16 {
	r := rand.New(rand.NewPCG(seed, 9)) //nolint:gosec // noise
	out := make([]int16, 16000)
	for at := r.IntN(800); at < len(out); at += 1000 + r.IntN(600) {
		decay := 20 + r.Float64()*40 // samples
		for i := range min(len(out)-at, 400) {
			out[at+i] = Clip(r.NormFloat64() * Amplitude(dBFS) * math.Exp(-float64(i)/decay))
		}
	}
	return out
}
