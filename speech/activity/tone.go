package activity

import "math"

// These constants define a tone: one constant frequency at a constant level, for longer than most voices sustain a frequency.
const (
	toneFrames  = 4     // 80 ms
	toneLevel   = 1e-4  // mean square: -40 dBFS
	toneSpread  = 90.0  // Hz: root mean square distance of the energy from the frequency; companding causes 30 to 80
	toneDrift   = 0.015 // maximum relative change of the frequency between frames
	toneSwell   = 1.6   // maximum ratio of the energies of consecutive frames
	lowestTone  = 340.0 // Hz
	highestTone = 2500.0
)

// toneFit finds single tones. In a sinusoid each sample follows from the previous two by one coefficient: x[n] = c·x[n-1] - x[n-2] with
// c = 2·cos(w), w = 2πf/8000. The coefficient is fitted to each frame; the residual is the frame's distance from a tone.
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
	same := t.run > 0 && math.Abs(hertz-t.hertz) < toneDrift*t.hertz &&
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

// lowTone is the frequency in Hz below which fitTone compares every third sample, because the noise of companding spoils the small
// difference between two samples of a low tone. lowLag is the distance between the compared samples. It is unambiguous up to 1333 Hz.
const (
	lowTone = 800.0
	lowLag  = 3
)

// fitTone returns the mean square of the frame and the frequency of the nearest sinusoid. pure reports whether the frame is a tone.
func fitTone(x *[bandFrame]float64) (energy, hertz float64, pure bool) {
	energy, hertz, spread := fitLag(x, 1)
	if hertz > 0 && hertz < lowTone {
		energy, hertz, spread = fitLag(x, lowLag)
	}
	return energy, hertz, spread < toneSpread && hertz >= lowestTone && hertz <= highestTone
}

// fitLag fits the coefficient to samples with a distance of lag. It returns the mean square of the frame, the frequency of the nearest
// sinusoid, and the root mean square distance of the energy from the frequency in Hz. The frequency is 0 if the frame is too soft or no
// sinusoid.
func fitLag(x *[bandFrame]float64, lag int) (energy, hertz, spread float64) {
	var cross, middle, sum float64
	for n := 2 * lag; n < bandFrame; n++ {
		cross += (x[n] + x[n-2*lag]) * x[n-lag]
		middle += x[n-lag] * x[n-lag]
		sum += x[n] * x[n]
	}
	energy = sum / float64(bandFrame-2*lag)
	if energy < toneLevel || middle == 0 {
		return energy, 0, 0
	}
	c := cross / middle
	if c <= -2 || c >= 2 {
		return energy, 0, 0
	}
	scale := bandRate / (2 * math.Pi * float64(lag))
	var rest float64
	for n := 2 * lag; n < bandFrame; n++ {
		e := x[n] - c*x[n-lag] + x[n-2*lag]
		rest += e * e
	}
	// A frequency error of a small angle leaves a residual of 2·sin(w) times this angle.
	return energy, math.Acos(c/2) * scale, math.Sqrt(rest/sum/(4-c*c)) * scale
}
