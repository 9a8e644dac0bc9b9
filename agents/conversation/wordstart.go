package conversation

import (
	"time"

	"github.com/callwright/callwright/speech/pcm"
)

// The limits of the audio that a resumed answer repeats.
const (
	longestRepeat = 400 * time.Millisecond
	longestWord   = time.Second // of a word with a mark, which is repeated from its beginning
)

// quietWindow is the level of a gap between words, in dB relative to the loudest window.
const quietWindow = -20.0

// digitalSilence is the level in dBFS up to which a window is always a gap.
const digitalSilence = -60.0

// wordStart returns the position at which the last word of the samples begins: the newest window of 10 ms with a level below quietWindow, or of digital silence.
// Without such a gap it returns 0 if begins is true, which means that the first sample begins a word, and the quietest window otherwise.
func wordStart(samples []int16, rate int, begins bool) int {
	size := rate / 100
	count := len(samples) / size
	levels := make([]float64, count) // from the newest window to the oldest
	loudest, quietest := pcm.SilenceDB, 0
	for i := range levels {
		end := len(samples) - i*size
		levels[i] = pcm.Loudness(samples[end-size : end])
		loudest = max(loudest, levels[i])
		if levels[i] < levels[quietest] {
			quietest = i
		}
	}
	for i, level := range levels {
		if level <= max(loudest+quietWindow, digitalSilence) {
			return len(samples) - (i+1)*size
		}
	}
	if begins || count == 0 {
		return 0
	}
	return len(samples) - (quietest+1)*size
}

// wordEnd returns the end of the first gap of 10 ms after a position (at) in the samples, or at if there is none. Levels are relative to the
// loudest window, as in wordStart.
func wordEnd(samples []int16, at, rate int) int {
	size := rate / 100
	loudest := pcm.SilenceDB
	for i := 0; i+size <= len(samples); i += size {
		loudest = max(loudest, pcm.Loudness(samples[i:i+size]))
	}
	for i := at; i+size <= len(samples); i += size {
		if pcm.Loudness(samples[i:i+size]) <= max(loudest+quietWindow, digitalSilence) {
			return i + size
		}
	}
	return at
}
