package conversation

import (
	"time"

	"github.com/callwright/callwright/speech/activity"
)

// frameTime is the duration of a frame.
const frameTime = 20 * time.Millisecond

// The limits of the voiceDetector.
const (
	shortestVoice = 80 * time.Millisecond  // minimum of speech while the agent is silent; shorter sound is a click
	wordGap       = 240 * time.Millisecond // maximum gap between words; a longer gap begins a new burst
	longestLead   = 160 * time.Millisecond // maximum of sound before a voice that counts for an interruption
	certain       = 0.6                    // minimum of Verdict.Certainty for an interruption; coughs and breaths stay below it
	recognized    = 40 * time.Millisecond  // time that a clear voice interrupts sooner: about the delay of its recognition
)

// voiceDetector groups frames with voice into bursts. It ignores echoes of the agent.
type voiceDetector struct {
	activity Activity
	echo     echo

	run    int           // consecutive frames with voice
	voiced time.Duration // duration of voice in the current burst
	length time.Duration // time since the first voice of the burst
	gap    time.Duration // time since the last voice of the burst

	certainty float64       // Verdict.Certainty of the last frame
	clear     bool          // Verdict.Clear of the last frame
	loud      time.Duration // duration of sound that may be the caller's voice, up to the last frame
	lead      time.Duration // the part of this duration before the first voice of the burst
	far       time.Duration // duration of somebody else's speech up to the last frame
}

func newEar(a Activity) *voiceDetector {
	return &voiceDetector{activity: a, echo: newEcho()}
}

// hear processes a frame. guarded means that the agent has just begun to speak, so that its echo may be loud.
func (e *voiceDetector) hear(f Frame, guarded bool) {
	e.echo.play(f.Out)
	v := e.activity.Hear(f.In, f.Out)
	e.certainty, e.clear = v.Certainty, v.Clear
	near := v.Level > e.echo.limit(guarded)
	e.echo.learn(v.Kind == activity.Speech, v.Level)
	if near && v.Voice() {
		if e.voiced == 0 {
			e.lead = min(e.loud, longestLead)
		}
		e.run++
		e.voiced += frameTime
	} else {
		e.run = 0
	}
	if v.Far {
		e.far += frameTime
	} else {
		e.far = 0
	}
	if near && v.Loud && e.far <= longestLead { // the beginning of the caller's voice is soft, too
		e.loud += frameTime
	} else {
		e.loud = 0
	}
	if e.voiced > 0 {
		e.length += frameTime
		e.gap += frameTime
	}
	if e.run > 1 { // a single frame may be a crackle
		e.gap = 0
	}
}

// endBurst ends the burst after a gap longer than wordGap.
func (e *voiceDetector) endBurst() {
	if e.gap > wordGap {
		e.reset()
	}
}

// reset ends the burst.
func (e *voiceDetector) reset() { e.run, e.voiced, e.length, e.gap, e.lead = 0, 0, 0, 0, 0 }

// speaks reports whether the burst contains enough voice while the agent is silent. The sound immediately before a certain voice counts, too.
func (e *voiceDetector) speaks() bool {
	return e.voiced >= shortestVoice || e.run > 1 && e.certainty >= certain && e.lead+e.voiced >= shortestVoice
}

// interrupts reports whether the caller speaks, the last frame is certainly voice, and the burst contains enough voice. The sound
// immediately before the first voice counts too, because an Activity needs some time to recognize a voice. A clear voice may be shorter by
// recognized, because its beginning is often too soft to count.
func (e *voiceDetector) interrupts(enough time.Duration) bool {
	voice := e.lead + e.voiced
	return e.run > 1 && (voice >= enough && e.certainty >= certain || voice >= enough-recognized && e.clear)
}

// ring stores the last audio of the caller, so that an utterance can begin before the detection of its voice.
type ring struct {
	samples []int16
	at      int
	full    bool
}

func newRing(rate int, d time.Duration) *ring {
	return &ring{samples: make([]int16, int(d.Seconds()*float64(rate)))}
}

// grow makes a ring hold at least the last d of audio.
func (r *ring) grow(rate int, d time.Duration) {
	if n := int(d.Seconds() * float64(rate)); n > len(r.samples) {
		held := r.last(nil, len(r.samples))
		r.samples, r.at, r.full = make([]int16, n), len(held), false
		copy(r.samples, held)
	}
}

// write adds samples and overwrites the oldest samples.
func (r *ring) write(p []int16) {
	for len(p) > 0 {
		n := copy(r.samples[r.at:], p)
		p = p[n:]
		r.at += n
		if r.at == len(r.samples) {
			r.at, r.full = 0, true
		}
	}
}

// last appends the newest n samples to dst, or all samples if the ring contains fewer.
func (r *ring) last(dst []int16, n int) []int16 {
	held := r.at
	if r.full {
		held = len(r.samples)
	}
	n = min(n, held)
	if n <= r.at {
		return append(dst, r.samples[r.at-n:r.at]...)
	}
	dst = append(dst, r.samples[len(r.samples)-(n-r.at):]...)
	return append(dst, r.samples[:r.at]...)
}
