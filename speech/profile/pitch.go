package profile

import (
	"math"
	"slices"
)

// The parameters of the pitch track, which has a frame every 10 ms. It uses the difference function of YIN (de Cheveigné and Kawahara,
// 2002).
const (
	rate      = 8000
	hop       = rate / 100
	window    = rate / 25 // compared samples: 40 ms, more than two periods of the lowest voice
	minPitch  = 60.0      // Hz
	maxPitch  = 400.0     // Hz
	minLag    = rate / int(maxPitch)
	maxLag    = rate/int(minPitch) + 1
	clearDip  = 0.1 // the first dip below this value is the period
	voicedDip = 0.4 // a frame without a dip below this value is unvoiced
)

// pitchTrack contains the pitch of every frame in Hz, or 0 if the frame is unvoiced, and the frame's aperiodicity.
type pitchTrack struct {
	pitch, noise []float64
}

// trackPitch returns the pitch of the frames with sound. A second pass searches only a widened range around the pitches that the first pass
// found.
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

// differences returns, for each lag, the difference between a frame and the frame shifted by the lag, relative to the mean of the shorter
// lags. It is 0 at the period of a periodic sound, and 1 in noise.
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

// pick selects from each curve the first clear dip between the frequencies low and high, in Hz, or the deepest dip if none is clear. If
// that dip is above voicedDip, the frame is unvoiced.
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
				continue // not a dip
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

// voiced returns the pitch of the voiced frames, and their mean periodicity from 0 to 1. It skips frames of which no neighbor has a similar
// pitch.
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
