package espeak

import (
	"math"
	"strconv"

	"github.com/callwright/callwright/speech/tts"
)

// point is a value of an option and the factor that it was measured to make.
type point struct{ value, factor float64 }

// pitches are values of -p, whose default is 50, and speeds are values of -s, whose default is 175 words a minute. The factors are the
// same for every language within 2 % for the pitch and 5 % for the speed.
var (
	pitches = []point{{0, 0.657}, {20, 0.756}, {40, 0.905}, {50, 1}, {60, 1.105}, {80, 1.366}, {99, 1.69}}
	speeds  = []point{{80, 0.478}, {100, 0.565}, {130, 0.742}, {160, 0.914}, {175, 1}, {200, 1.147}, {250, 1.43}, {300, 1.685}, {350, 1.925}, {380, 2.07}}
)

// option returns the value that makes a factor, between those that were measured, and the factor that it makes.
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

// rateStep rounds the rate that audio is played at, so that the filter of the resampler stays small. The pitch is off by 0.6 % at
// most.
const rateStep = 100

// control returns eSpeak's options for a prosody, and the factor by which its audio is then played faster. A pitch that eSpeak does not
// reach, below 0.66 or above 1.69 times its own, is made up for by that, and by a tempo that is slower by as much.
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
