package activity

import (
	"math"
	"math/cmplx"
)

// These constants define a tone: one constant frequency at a constant level, for longer than most voices sustain a frequency.
const (
	toneFrames  = 4     // 80 ms
	toneLevel   = 1e-4  // mean square: -40 dBFS
	toneShare   = 0.94  // minimum share of a frame's energy; two tones with a distance of 40 Hz have at most 0.93
	toneDrift   = 12.0  // Hz: maximum change of the frequency between frames
	toneSwell   = 1.6   // maximum ratio of the energies of consecutive frames
	lowestTone  = 340.0 // Hz
	highestTone = 2500.0
)

// toneFit finds single tones. In a sinusoid each sample follows from the previous two by one coefficient: x[n] = c·x[n-1] - x[n-2] with
// c = 2·cos(w), w = 2πf/8000. The coefficient is fitted to each frame.
type toneFit struct {
	energy float64
	hertz  float64
	run    int // number of consecutive frames with the same tone
}

// rest ends a tone.
func (t *toneFit) rest() { t.run = 0 }

// hear processes a frame. It returns the frequency of a tone, and reports whether the tone has sounded for at least toneFrames.
func (t *toneFit) hear(x *[bandFrame]float64) (hertz float64, tone bool) {
	energy, hertz, pure := fitTone(x)
	same := t.run > 0 && math.Abs(hertz-t.hertz) < toneDrift &&
		energy < t.energy*toneSwell && t.energy < energy*toneSwell
	switch {
	case !pure:
		t.run = 0
	case same:
		t.run++
	default:
		t.run = 1
	}
	t.energy, t.hertz = energy, hertz
	return hertz, t.run >= toneFrames
}

// fitTone returns the mean square of the frame and the frequency of the nearest sinusoid. pure reports whether the frame is a tone.
func fitTone(x *[bandFrame]float64) (energy, hertz float64, pure bool) {
	var cross, middle, sum float64
	for n := 2; n < bandFrame; n++ {
		cross += (x[n] + x[n-2]) * x[n-1]
		middle += x[n-1] * x[n-1]
		sum += x[n] * x[n]
	}
	energy = sum / (bandFrame - 2)
	if energy < toneLevel || middle == 0 {
		return energy, 0, false
	}
	c := cross / middle
	if c <= -2 || c >= 2 {
		return energy, 0, false
	}
	// Noise pulls the coefficient towards 2 kHz. The phase between the halves of the frame corrects the frequency by up to 50 Hz.
	w := math.Acos(c / 2)
	var share float64
	for range 2 {
		var turn float64
		turn, share = demodulate(x, w)
		w += turn / (bandFrame / 2)
	}
	hertz = w * bandRate / (2 * math.Pi)
	pure = share > toneShare && hertz >= lowestTone && hertz <= highestTone
	return energy, hertz, pure
}

// demodulate multiplies a frame by an oscillation of w radians per sample. It returns by how many radians the phase of the tone turns from one
// half of the frame to the other, and the share of the frame's energy in the oscillation.
func demodulate(x *[bandFrame]float64, w float64) (turn, share float64) {
	step, spin := cmplx.Rect(1, -w), complex(1, 0)
	var halves [2]complex128
	var energy float64
	for i, v := range x {
		halves[i/(bandFrame/2)] += spin * complex(v, 0)
		spin *= step
		energy += v * v
	}
	both := cmplx.Abs(halves[0] + halves[1])
	return cmplx.Phase(halves[1] * cmplx.Conj(halves[0])), both * both / (energy * bandFrame / 2)
}
