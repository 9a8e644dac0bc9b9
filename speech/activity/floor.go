package activity

import "math"

// floor tracks the noise floor: the minimum level of the last blocks of frames. Speech has gaps within that time, so its gaps determine the
// floor.
type floor struct {
	blocks [8]float64 // minimum level of each of the last blocks
	n      int        // number of frames in the newest block
	at     int        // index of the newest block
	whole  bool       // whether all blocks have been filled
}

// blockFrames is the number of frames in a block. Eight blocks last 1.6 s.
const blockFrames = 10

func newFloor() floor {
	f := floor{}
	for i := range f.blocks {
		f.blocks[i] = math.Inf(1)
	}
	return f
}

// over adds the level of a frame, and returns its distance above the floor in dB.
func (f *floor) over(level float64) float64 {
	if f.n == blockFrames {
		f.n, f.at = 0, (f.at+1)%len(f.blocks)
		f.whole = f.whole || f.at == 0
		f.blocks[f.at] = math.Inf(1)
	}
	f.n++
	f.blocks[f.at] = min(f.blocks[f.at], level)
	lowest := math.Inf(1)
	for _, b := range f.blocks {
		lowest = min(lowest, b)
	}
	lowest += floorBias
	if !f.whole {
		lowest = min(lowest, highFloor)
	}
	return level - max(lowest, lowFloor)
}

// biquad is a second-order filter (direct form I transposed).
type biquad struct{ b0, b1, b2, a1, a2, z1, z2 float64 }

// lowPass and highPass return Butterworth filters, designed with the bilinear transform. hz is the cutoff frequency.
func lowPass(hz float64) biquad {
	k := math.Tan(math.Pi * hz / bandRate)
	n := 1 / (1 + math.Sqrt2*k + k*k)
	return biquad{b0: k * k * n, b1: 2 * k * k * n, b2: k * k * n, a1: 2 * (k*k - 1) * n, a2: (1 - math.Sqrt2*k + k*k) * n}
}

func highPass(hz float64) biquad {
	k := math.Tan(math.Pi * hz / bandRate)
	n := 1 / (1 + math.Sqrt2*k + k*k)
	return biquad{b0: n, b1: -2 * n, b2: n, a1: 2 * (k*k - 1) * n, a2: (1 - math.Sqrt2*k + k*k) * n}
}

func (q *biquad) next(x float64) float64 {
	y := q.b0*x + q.z1
	q.z1 = q.b1*x - q.a1*y + q.z2
	q.z2 = q.b2*x - q.a2*y
	return y
}

// rest clears the filter's state. In silence, the state would decay to denormal numbers, which are slow.
func (q *biquad) rest() { q.z1, q.z2 = 0, 0 }

// decibels converts a mean square of samples between -1 and 1 to dBFS. The minimum is -100.
func decibels(meanSquare float64) float64 { return 10 * math.Log10(meanSquare+1e-10) }
