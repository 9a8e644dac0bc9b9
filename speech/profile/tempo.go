package profile

import (
	"math"
	"slices"
	"time"
)

// The parameters of counting syllables according to de Jong and Wempe (2009): voiced peaks of the intensity above a threshold, each
// preceded by a dip.
const (
	hopTime     = 10 * time.Millisecond
	smooth      = rate * 40 / 1000 // samples in the window over which the intensity is computed
	below       = 25.0             // dB below the loudest frames, under which frames are not speech
	attenuation = 1.0              // depth of the dip between two syllables, in dB
	quietest    = -60.0            // dBFS, under which frames are never speech
	minPause    = 30               // frames; a shorter silence counts as speech
	loudestPar  = 0.99             // quantile of the levels that counts as loudest, so that clicks are ignored
)

// envelope returns the intensity of each hop in dBFS, computed in a Hann window.
func envelope(samples []int16) []float64 {
	weights := make([]float64, smooth)
	total := 0.0
	for i := range weights {
		weights[i] = 0.5 - 0.5*math.Cos(2*math.Pi*(float64(i)+0.5)/smooth)
		total += weights[i]
	}
	levels := make([]float64, len(samples)/hop)
	for f := range levels {
		start, sum := f*hop-smooth/2, 0.0
		for i, w := range weights {
			if at := start + i; at >= 0 && at < len(samples) {
				v := float64(samples[at]) / 32768
				sum += w * v * v
			}
		}
		levels[f] = 10 * math.Log10(sum/total+1e-12)
	}
	return levels
}

// threshold returns the level, in dBFS, above which frames are speech. The result is false if no frame is speech.
func threshold(levels []float64) (float64, bool) {
	if len(levels) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(levels))
	top := quantile(sorted, loudestPar)
	return max(top-below, quietest), top > quietest
}

// speechFrames marks the frames of speech, including short pauses. The second result is false if no frame is speech.
func speechFrames(levels []float64) ([]bool, bool) {
	floor, ok := threshold(levels)
	if !ok {
		return nil, false
	}
	frames := make([]bool, len(levels))
	last := -1
	for i, level := range levels {
		if level < floor {
			continue
		}
		if last >= 0 && i-last <= minPause {
			for j := last + 1; j < i; j++ {
				frames[j] = true
			}
		}
		frames[i], last = true, i
	}
	return frames, true
}

// countSyllables returns the number of voiced peaks of the intensity that follow a dip.
func countSyllables(levels []float64, track pitchTrack) int {
	floor, ok := threshold(levels)
	if !ok {
		return 0
	}
	n, low := 0, math.Inf(-1)
	if len(levels) > 0 {
		low = levels[0]
	}
	peak := -1 // a candidate until a dip follows
	for i, level := range levels {
		switch {
		case peak >= 0 && level > levels[peak]:
			peak = i
		case peak >= 0 && level < levels[peak]-attenuation:
			if track.near(peak) {
				n++
			}
			peak, low = -1, level
		case peak < 0 && level < low:
			low = level
		case peak < 0 && level > low+attenuation && level > floor:
			peak = i
		}
	}
	if peak >= 0 && track.near(peak) {
		n++
	}
	return n
}

// near reports whether the frame or a neighboring frame is voiced.
func (t pitchTrack) near(frame int) bool {
	for i := max(frame-1, 0); i <= min(frame+1, len(t.pitch)-1); i++ {
		if t.pitch[i] > 0 {
			return true
		}
	}
	return false
}
