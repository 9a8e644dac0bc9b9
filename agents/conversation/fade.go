package conversation

import (
	"math"
	"time"
)

// The limits of a softer answer.
const (
	duckAfter   = 120 * time.Millisecond // voice over an answer after which the agent is softer (ducking)
	duckGain    = 0.25                   // gain of the softer answer: -12 dB
	unduck      = 120 * time.Millisecond // silence after which the agent is as loud as before
	pauseWithin = 260 * time.Millisecond // time after the first voice up to which a held answer may finish the current word; the voice is recognized late
	fadeTime    = 10 * time.Millisecond  // duration of a change of the gain; shorter changes click
)

// fade is a change of an answer's gain, which is constant before and afterwards.
type fade struct {
	start    int // position of the first changed sample
	from, to float64
}

// full is the gain of an answer that is not ducked.
var full = fade{from: 1, to: 1}

// gain returns the gain of the sample at a position of the answer. rate is the sample rate in Hz.
func (f fade) gain(at, rate int) float64 {
	part := float64(at-f.start) / (fadeTime.Seconds() * float64(rate))
	return f.from + (f.to-f.from)*min(max(part, 0), 1)
}

// apply returns samples that begin at a position of the answer with their gain. It stores them in buffer unless the gain is 1.
func (f fade) apply(buffer *[]int16, samples []int16, at, rate int) []int16 {
	if f.to == 1 && (f == full || at-f.start >= int(fadeTime.Seconds()*float64(rate))) {
		return samples
	}
	*buffer = (*buffer)[:0]
	for i, s := range samples {
		*buffer = append(*buffer, int16(math.Round(float64(s)*f.gain(at+i, rate))))
	}
	return *buffer
}

// ducks reports whether a voice that may become an interruption makes the agent softer first.
func (r bargeInRule) ducks() bool { return r.pause > duckAfter && r.words <= 1 }

// duck makes the answer softer while the caller's voice may become an interruption, and as loud as before after the voice.
func (r *reader) duck() {
	switch e := r.voiceDetector; {
	case e.voiced == 0 || e.gap >= unduck:
		r.job.mouth.fade(r.ctx, r.now, 1)
	case e.interrupts(duckAfter) && r.noises < falseHolds && r.currentRule().ducks():
		r.job.mouth.fade(r.ctx, r.now, duckGain)
	}
}

// restOfWord returns the time in which a word of the agent must end to be finished before a hold.
func (r *reader) restOfWord() time.Duration {
	e := r.voiceDetector
	return max(0, pauseWithin-e.lead-e.length-frameTime)
}
