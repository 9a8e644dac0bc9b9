package conversation_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/callwright/callwright/internal/sounds"
)

// condition is the sound that surrounds a caller's speech.
type condition struct {
	name  string
	level float64                       // of the speech in dBFS; 0 means voiceLevel
	noise func(i int) float64           // at 0 dBFS
	below float64                       // level of the noise, relative to the speech in dB
	line  func(u []int16, r *rand.Rand) // changes the sound of the line, before its coding
}

// nothing is the noise of a quiet line, 45 dB below the speech.
const nothing = -45

// conditions returns the 26 conditions, or fewer for the small measurement.
func conditions(t *testing.T, c corpus) []condition {
	t.Helper()
	white, car, hum := sounds.White(0), sounds.Brown(0), sounds.Tones(-6, 50, 150, 250, 100)
	babble, song, held := babbleOf(c, 5), sounds.Music(0), loop(c.music[0])
	other := babbleOf(c, 1)
	street := func(i int) float64 { return car(i) * (0.6 + 0.4*math.Sin(2*math.Pi*float64(i)/rate/3)) }
	all := []condition{
		{name: "clean", noise: white, below: nothing},
		{name: "soft voice, -35 dBFS", level: -35, noise: white, below: -30},
		{name: "loud voice, -10 dBFS", level: -10, noise: white, below: -55},
		{name: "silence suppression", noise: white, below: nothing, line: suppressed},
		{name: "white noise 20 dB below", noise: white, below: -20},
		{name: "white noise 10 dB below", noise: white, below: -10},
		{name: "white noise 5 dB below", noise: white, below: -5},
		{name: "white noise as loud", noise: white, below: 0},
		{name: "car 20 dB below", noise: car, below: -20},
		{name: "car 10 dB below", noise: car, below: -10},
		{name: "car as loud", noise: car, below: 0},
		{name: "street 10 dB below", noise: street, below: -10},
		{name: "hum 10 dB below", noise: hum, below: -10},
		{name: "babble 20 dB below", noise: babble, below: -20},
		{name: "babble 15 dB below", noise: babble, below: -15},
		{name: "babble 10 dB below", noise: babble, below: -10},
		{name: "one voice 20 dB below", noise: other, below: -20},
		{name: "one voice 15 dB below", noise: other, below: -15},
		{name: "music 20 dB below", noise: song, below: -20},
		{name: "music 10 dB below", noise: song, below: -10},
		{name: "hold music 20 dB below", noise: held, below: -20},
		{name: "hold music 10 dB below", noise: held, below: -10},
		{name: "typing", noise: typing(), below: 0},
		{name: "5 % of packets lost", noise: white, below: nothing, line: lossy},
		{name: "clipped by 12 dB", noise: white, below: nothing, line: clipped},
		{name: "gain changes by 12 dB", noise: white, below: nothing, line: drifting},
	}
	if !small() {
		return all
	}
	return slices.DeleteFunc(all, func(c condition) bool { return !slices.Contains(smallConditions, c.name) })
}

var smallConditions = []string{"clean", "white noise as loud", "babble 20 dB below", "babble 10 dB below", "music 20 dB below", "music 10 dB below"}

// with returns the audio of a call: 1.5 s without speech, the speech, and 2 s without speech. begin and end are the samples of the speech.
func (c *condition) with(u utterance, seed uint64) (audio []int16, begin, end int) {
	level := c.level
	if level == 0 {
		level = voiceLevel
	}
	begin = 3 * rate / 2
	end = begin + len(u.samples)
	line := make([]int16, end+2*rate)
	gain := sounds.Amplitude(level) / sounds.Amplitude(voiceLevel)
	for i, s := range u.samples {
		line[begin+i] = sounds.Clip(float64(s) * gain)
	}
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same calls each time
	at := r.IntN(10 * rate)
	noise := sounds.Amplitude(level+c.below) / sounds.Amplitude(0)
	for i := range line {
		line[i] = sounds.Clip(float64(line[i]) + noise*c.noise(at+i))
	}
	if c.line != nil {
		c.line(line, r)
	}
	for i, s := range line {
		line[i] = sounds.Mulaw(float64(s))
	}
	return line, begin, end
}

// babbleOf returns a number of the corpus' voices that speak at the same time, with 0 dBFS.
func babbleOf(c corpus, voices int) func(i int) float64 {
	tracks := make([][]int16, voices)
	for n, u := range c.sentences {
		tracks[n%voices] = append(tracks[n%voices], u.samples...)
	}
	mixed := make([]float64, 20*rate)
	var power float64
	for i := range mixed {
		for n, track := range tracks {
			mixed[i] += float64(track[(i+n*rate/3)%len(track)])
		}
		power += mixed[i] * mixed[i]
	}
	gain := sounds.Amplitude(0) / math.Sqrt(power/float64(len(mixed)))
	return func(i int) float64 { return mixed[i%len(mixed)] * gain }
}

// loop repeats a recording with 0 dBFS.
func loop(samples []int16) func(i int) float64 {
	gain := sounds.Amplitude(0) / sounds.RMS(samples)
	return func(i int) float64 { return float64(samples[i%len(samples)]) * gain }
}

// typing returns the noise of a keyboard, whose clicks are as loud as the voice.
func typing() func(i int) float64 {
	keys := sounds.Typing(5, 0)
	return func(i int) float64 { return float64(keys[i%len(keys)]) }
}

// suppressed replaces frames of silence by digital silence.
func suppressed(line []int16, _ *rand.Rand) {
	for f := range slices.Chunk(line, frame) {
		if sounds.RMS(f) < sounds.Amplitude(-50) {
			clear(f)
		}
	}
}

// lossy replaces 5 % of the frames by silence.
func lossy(line []int16, r *rand.Rand) {
	for f := range slices.Chunk(line, frame) {
		if r.IntN(20) == 0 {
			clear(f)
		}
	}
}

func clipped(line []int16, _ *rand.Rand) {
	limit := sounds.Amplitude(voiceLevel)
	for i, s := range line {
		line[i] = int16(max(-limit, min(limit, float64(s)*4)))
	}
}

// drifting changes the gain between 0 and -12 dB within seconds.
func drifting(line []int16, _ *rand.Rand) {
	for i, s := range line {
		line[i] = int16(float64(s) * math.Pow(10, -0.3*(1+math.Sin(2*math.Pi*float64(i)/rate/2))))
	}
}
