package voicemail

import "math"

// These constants define a repetition. A recording that is played again has the same levels in dB except for noise and the limits of frames;
// a person who repeats a sentence speaks it faster, slower or with another stress.
const (
	envelopeFrames = 400  // number of frames that are compared at most: 8 s
	repeatLeast    = 50   // minimum number of frames in a repetition: 1 s
	repeatShift    = 3    // maximum difference of the positions and the lengths in frames
	repeatMatch    = 0.94 // minimum correlation of the levels
	repeatRange    = 30.0 // dB below the loudest frame from which all levels are equal
)

// envelope contains the levels of the frames of a stretch of speech in dBFS.
type envelope struct {
	levels [envelopeFrames]float64
	n      int // number of frames in the stretch
}

// add appends a level.
func (e *envelope) add(level float64) {
	if e.n < envelopeFrames {
		e.levels[e.n] = level
	}
	e.n++
}

// repeats reports whether a stretch of speech is the same recording as another one.
func (e *envelope) repeats(other *envelope) bool {
	if e.n < repeatLeast || e.n-other.n > repeatShift || other.n-e.n > repeatShift {
		return false
	}
	for shift := -repeatShift; shift <= repeatShift; shift++ {
		if e.correlation(other, shift) >= repeatMatch {
			return true
		}
	}
	return false
}

// correlation returns the correlation, from -1 to 1, of the levels of two stretches, one of which is shifted by a number of frames.
func (e *envelope) correlation(other *envelope, shift int) float64 {
	loudest := math.Inf(-1)
	for _, l := range e.levels[:min(e.n, envelopeFrames)] {
		loudest = max(loudest, l)
	}
	var n, sumA, sumB, squareA, squareB, product float64
	for i := max(0, -shift); i < min(e.n, other.n-shift, envelopeFrames, envelopeFrames-shift); i++ {
		a, b := max(e.levels[i], loudest-repeatRange), max(other.levels[i+shift], loudest-repeatRange)
		n, sumA, sumB = n+1, sumA+a, sumB+b
		squareA, squareB, product = squareA+a*a, squareB+b*b, product+a*b
	}
	spread := math.Sqrt((n*squareA - sumA*sumA) * (n*squareB - sumB*sumB))
	if spread == 0 {
		return 0
	}
	return (n*product - sumA*sumB) / spread
}
