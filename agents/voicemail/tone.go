package voicemail

import "math"

// The search for a tone uses audio at 8 kHz, in frames of 20 ms.
const (
	toneRate  = 8000
	toneFrame = toneRate / 50
)

// These constants define a tone: one constant frequency at a constant level, for longer than a voice sustains a frequency.
const (
	toneFrames  = 9     // 180 ms
	toneLevel   = 1e-4  // mean square: -40 dBFS
	toneSpread  = 90.0  // Hz: root mean square distance of the energy from the frequency; companding causes 30 to 80
	toneDrift   = 0.015 // maximum relative change of the frequency between frames
	toneSwell   = 1.6   // maximum ratio of the energies of consecutive frames
	lowestTone  = 350.0 // Hz
	highestTone = 2500.0
)

// toneDetector finds the tone of an answering machine. In a sinusoid each sample follows from the previous two by one coefficient:
// x[n] = c·x[n-1] - x[n-2] with c = 2·cos(w), w = 2πf/8000. The coefficient is fitted to each frame; the residual is the frame's
// distance from a tone.
type toneDetector struct {
	fold   int // number of input samples for one sample at 8 kHz
	x      [toneFrame]float64
	energy float64
	hertz  float64
	run    int // number of consecutive frames with the same tone
}

// hear processes a frame, and reports whether a tone has sounded for at least toneFrames.
func (t *toneDetector) hear(frame []int16) bool {
	t.feed(frame)
	energy, hertz, pure := t.fit()
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
	return t.run >= toneFrames
}

// feed resamples the frame to 8 kHz: it averages t.fold samples.
func (t *toneDetector) feed(frame []int16) {
	scale := 1 / (32768 * float64(t.fold))
	for i := range t.x {
		sum := 0
		for _, s := range frame[min(i*t.fold, len(frame)):min((i+1)*t.fold, len(frame))] {
			sum += int(s)
		}
		t.x[i] = float64(sum) * scale
	}
}

// fit returns the mean square of the frame and the frequency of the nearest sinusoid. pure reports whether the frame is a tone.
func (t *toneDetector) fit() (energy, hertz float64, pure bool) {
	var cross, middle, sum float64
	for n := 2; n < toneFrame; n++ {
		cross += (t.x[n] + t.x[n-2]) * t.x[n-1]
		middle += t.x[n-1] * t.x[n-1]
		sum += t.x[n] * t.x[n]
	}
	energy = sum / (toneFrame - 2)
	if energy < toneLevel || middle == 0 {
		return energy, 0, false
	}
	c := cross / middle
	if c <= -2 || c >= 2 {
		return energy, 0, false
	}
	hertz = math.Acos(c/2) * toneRate / (2 * math.Pi)
	var rest float64
	for n := 2; n < toneFrame; n++ {
		e := t.x[n] - c*t.x[n-1] + t.x[n-2]
		rest += e * e
	}
	// A frequency error of a small angle leaves a residual of 2·sin(w) times this angle.
	spread := math.Sqrt(rest/sum/(4-c*c)) * toneRate / (2 * math.Pi)
	pure = spread < toneSpread && hertz >= lowestTone && hertz <= highestTone
	return energy, hertz, pure
}
