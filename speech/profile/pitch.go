package profile

import (
	"math"
	"slices"
)

// The track of the pitch: a frame every 10 ms, by the difference function of YIN (de Cheveigné and Kawahara, 2002).
const (
	rate      = 8000
	hop       = rate / 100
	window    = rate / 25 // samples that are compared: 40 ms, over two periods of the lowest voice
	minPitch  = 60.0      // Hz
	maxPitch  = 400.0     // Hz
	minLag    = rate / int(maxPitch)
	maxLag    = rate/int(minPitch) + 1
	clearDip  = 0.1 // the first dip below it is the period
	voicedDip = 0.4 // without a dip below it a frame is unvoiced
)

// pitchTrack holds the pitch of all frames in Hz, 0 for none, and their aperiodicity.
type pitchTrack struct {
	pitch, noise []float64
}

// trackPitch returns the pitch of the frames with sound. The second pass searches the range of the first, widened, but by less than
// an octave.
func trackPitch(samples []int16, sounding []bool) pitchTrack {
	curves := make([][]float32, len(sounding))
	for i := range sounding {
		if start := i*hop - (window+maxLag)/2; sounding[i] && start >= 0 && start+window+maxLag+1 <= len(samples) {
			curves[i] = differences(samples[start : start+window+maxLag+1])
		}
	}
	track := pick(curves, minPitch, maxPitch)
	found, _ := track.voiced()
	if len(found) == 0 {
		return track
	}
	slices.Sort(found)
	center := quantile(found, 0.5)
	low := max(minPitch, min(0.75*quantile(found, 0.25), 0.7*center))
	high := min(maxPitch, max(1.5*quantile(found, 0.75), 1.5*center))
	return pick(curves, low, high)
}

// differences returns the difference of a frame from itself, shifted by each lag, relative to the mean of the shorter lags: 0 at
// the period of a periodic sound, 1 in noise.
func differences(x []int16) []float32 {
	out := make([]float32, maxLag+2)
	out[0] = 1
	sum := 0.0
	for lag := 1; lag < maxLag+1; lag++ {
		var d int64
		for i, v := range x[:window] {
			diff := int64(v) - int64(x[i+lag])
			d += diff * diff
		}
		if sum += float64(d); sum > 0 {
			out[lag] = float32(float64(d) * float64(lag) / sum)
		} else {
			out[lag] = 1
		}
	}
	out[maxLag+1] = out[maxLag]
	return out
}

// pick takes from each curve the first clear dip between two frequencies, or the deepest one.
func pick(curves [][]float32, low, high float64) pitchTrack {
	t := pitchTrack{make([]float64, len(curves)), make([]float64, len(curves))}
	from, to := max(int(rate/high), minLag), min(int(math.Ceil(rate/low)), maxLag)
	for i, curve := range curves {
		if curve == nil {
			continue
		}
		best := -1
		for lag := from; lag <= to; lag++ {
			if curve[lag] > curve[lag-1] || curve[lag] > curve[lag+1] {
				continue // no dip
			}
			if best < 0 || curve[lag] < curve[best] {
				best = lag
			}
			if curve[lag] < clearDip {
				break
			}
		}
		if best < 0 || curve[best] > voicedDip {
			continue
		}
		t.pitch[i], t.noise[i] = rate/vertex(curve, best), float64(curve[best])
	}
	return t
}

// vertex returns the lag of the minimum of the parabola through a dip and its neighbors.
func vertex(curve []float32, lag int) float64 {
	before, at, after := float64(curve[lag-1]), float64(curve[lag]), float64(curve[lag+1])
	bend := before - 2*at + after
	if bend <= 0 {
		return float64(lag)
	}
	return float64(lag) + max(-0.5, min(0.5, (before-after)/(2*bend)))
}

// voiced returns the pitch of the voiced frames, and their periodicity from 0 to 1. It skips frames whose neighbors are both
// unvoiced or far away in pitch.
func (t pitchTrack) voiced() (pitch []float64, clarity float64) {
	near := func(a, b float64) bool { return b > 0 && math.Abs(math.Log2(a/b)) < 0.2 }
	for i, hz := range t.pitch {
		if hz > 0 && (i > 0 && near(hz, t.pitch[i-1]) || i+1 < len(t.pitch) && near(hz, t.pitch[i+1])) {
			pitch = append(pitch, hz)
			clarity += 1 - t.noise[i]
		}
	}
	return pitch, clarity / float64(max(len(pitch), 1))
}
