package profile

import (
	"math"
	"slices"
	"time"
)

// Syllables are counted after de Jong and Wempe (2009): peaks of the intensity above a threshold, with a dip before each, that
// are voiced.
const (
	hopTime     = 10 * time.Millisecond
	smooth      = rate * 40 / 1000 // samples of the window of the intensity
	below       = 25.0             // dB below the loudest parts; quieter frames are not speech
	attenuation = 1.0              // dB between two syllables
	quietest    = -60.0            // dBFS; speech is louder
	minPause    = 30               // frames: a shorter silence belongs to the speech
	loudestPar  = 0.99             // quantile of the levels that counts as the loudest, so that clicks do not
)

// envelope returns the intensity of each hop in dBFS, in a Hann window.
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

// threshold returns the level above which frames are speech; false: no frame is.
func threshold(levels []float64) (float64, bool) {
	if len(levels) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(levels))
	top := quantile(sorted, loudestPar)
	return max(top-below, quietest), top > quietest
}

// speechFrames marks the frames of speech, short pauses included; false: none.
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

// countSyllables counts the peaks that are syllables.
func countSyllables(levels []float64, track pitchTrack) int {
	floor, ok := threshold(levels)
	if !ok {
		return 0
	}
	n, low := 0, math.Inf(-1)
	if len(levels) > 0 {
		low = levels[0]
	}
	peak := -1 // candidate, not yet confirmed by a dip after it
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

// near reports whether the frame or one beside it is voiced.
func (t pitchTrack) near(frame int) bool {
	for i := max(frame-1, 0); i <= min(frame+1, len(t.pitch)-1); i++ {
		if t.pitch[i] > 0 {
			return true
		}
	}
	return false
}
