// Package voicemail implements answering machine detection: it distinguishes a machine from a person by the beginning of a call. It uses
// only the other side's audio, without a model. A person says a few words and waits; a machine plays a long greeting and a tone.
package voicemail

import (
	"time"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/speech/activity"
)

// These constants limit the rules. They favor the verdict "person", because hanging up on a person is worse than talking to a machine.
const (
	frameTime = 20 * time.Millisecond

	// greetingPause is the shortest pause that ends a person's greeting.
	greetingPause = time.Second
	// maxPersonGreeting is the duration from which a greeting counts as a machine's. A person's "Thank you for calling so and so, this is
	// Anna, how may I help you?" takes four seconds.
	maxPersonGreeting = 5 * time.Second
	// latestStart is the latest start of a greeting after the answer. Later speech is a reply to the agent.
	latestStart = 3 * time.Second
	// shortest is the minimum duration of voice in a greeting. Shorter sounds are clicks.
	shortest = 100 * time.Millisecond
	// searchTime is the duration of the search for a tone. If no verdict is reached within this time, the verdict is unknown.
	searchTime = 30 * time.Second
	// greetingSilence is the silence that ends a machine's greeting without a tone.
	greetingSilence = 2 * time.Second
	// shortestTone is the minimum duration of a machine's tone, less the 60 ms until activity.Detector reports it.
	shortestTone = 120 * time.Millisecond
	// afterTone is the silence that confirms the end of a tone.
	afterTone = 200 * time.Millisecond
)

// Detector detects whether a person or a machine answered one call. It must receive the audio from the answer on. It is not safe for
// concurrent use.
type Detector struct {
	activity  *activity.Detector
	tone      time.Duration // duration of the current tone
	elapsed   time.Duration
	began     time.Duration // elapsed time at the beginning of the first stretch of speech
	voiceTime time.Duration // duration of voice in the first stretch of speech
	gap       time.Duration // time since the last sound of a voice or a tone
	verdict   call.AnsweredBy
	beeped    bool // a tone was heard
	greeting  bool // the first stretch of speech continues or may still continue
}

// New returns a detector for audio of 8000, 16000 or 48000 samples per second.
func New(rate int) *Detector {
	return &Detector{activity: activity.New(rate, nil)}
}

// Hear processes the next frame of 20 ms. It reports whether a verdict is decided: a person, a machine or unknown. A decided verdict never
// changes.
func (d *Detector) Hear(f conversation.Frame) (verdict call.AnsweredBy, decided bool) {
	d.elapsed += frameTime
	d.gap += frameTime
	v := d.activity.Hear(f.In, f.Out)
	if v.Hertz > 0 {
		d.tone += frameTime
	} else {
		d.tone = 0
	}
	switch {
	case d.tone >= shortestTone:
		d.gap = 0
		d.beeped = true
		if d.verdict == "" {
			d.verdict = call.AnsweredByVoicemail
		}
	case v.Kind == activity.Speech:
		d.speak()
	}
	if d.verdict == "" {
		d.verdict = d.judge()
	}
	return d.verdict, d.verdict != ""
}

// speak processes a frame that contains speech.
func (d *Detector) speak() {
	if !d.greeting && d.voiceTime == 0 && d.elapsed <= latestStart {
		d.greeting, d.began = true, d.elapsed
	}
	if d.greeting {
		d.voiceTime += frameTime
	}
	d.gap = 0
}

// judge returns the verdict so far, or "" if none is decided.
func (d *Detector) judge() call.AnsweredBy {
	switch {
	case d.greeting && d.elapsed-d.gap-d.began >= maxPersonGreeting:
		return call.AnsweredByVoicemail
	case d.greeting && d.gap >= greetingPause && d.voiceTime < shortest: // the sound was a click
		d.greeting, d.voiceTime = false, 0
		return ""
	case d.greeting && d.gap >= greetingPause:
		return call.AnsweredByHuman
	case d.elapsed >= searchTime:
		return call.AnsweredByUnknown
	default:
		return ""
	}
}

// Ended reports whether the machine's greeting is over, so that the agent can leave a message. The greeting is over after its tone or,
// without a tone, after a silence.
func (d *Detector) Ended() bool {
	if d.beeped {
		return d.gap >= afterTone
	}
	return d.gap >= greetingSilence
}
