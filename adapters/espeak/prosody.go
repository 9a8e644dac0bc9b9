package espeak

import (
	"math"
	"strconv"

	"github.com/callwright/callwright/speech/tts"
)

// point is a value of an option and the measured factor that it causes.
type point struct{ value, factor float64 }

// pitches contains values of the option -p, whose default is 50. speeds contains values of -s, whose default is 175 words per minute. The
// factors are the same for every language, within 2 % for the pitch and 5 % for the speed.
var (
	pitches = []point{{0, 0.657}, {20, 0.756}, {40, 0.905}, {50, 1}, {60, 1.105}, {80, 1.366}, {99, 1.69}}
	speeds  = []point{{80, 0.478}, {100, 0.565}, {130, 0.742}, {160, 0.914}, {175, 1}, {200, 1.147}, {250, 1.43}, {300, 1.685}, {350, 1.925}, {380, 2.07}}
)

// option returns the value that causes the given factor, interpolated between the measured points. Its second result is the factor that the
// value causes: the given factor, limited to the measured range.
func option(points []point, factor float64) (value, makes float64) {
	last := len(points) - 1
	factor = max(points[0].factor, min(points[last].factor, factor))
	for i := range last {
		a, b := points[i], points[i+1]
		if factor <= b.factor {
			return math.Round(a.value + (b.value-a.value)*(factor-a.factor)/(b.factor-a.factor)), factor
		}
	}
	return points[last].value, factor
}

// rateStep is the unit to which the playback rate is rounded, so that the filter of the resampler stays small. The rounding changes the
// pitch by 0.6 % at most.
const rateStep = 100

// control returns eSpeak's options for a prosody, and the factor by which the playback rate must change. eSpeak can change the pitch by a
// factor from 0.66 to 1.69. For other factors, the playback rate causes the rest, and eSpeak's tempo compensates for the faster or slower
// playback.
func control(prosody tts.Prosody) (options []string, playback float64) {
	pitch, tempo := prosody.Factors()
	p, made := option(pitches, pitch)
	playback = pitch / made
	if pitch != 1 {
		options = append(options, "-p", strconv.Itoa(int(p)))
	}
	if tempo /= playback; tempo != 1 {
		s, _ := option(speeds, tempo)
		options = append(options, "-s", strconv.Itoa(int(s)))
	}
	return options, playback
}
