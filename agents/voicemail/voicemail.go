// Package voicemail distinguishes an answering machine from a person by the beginning of a call. It uses only the other side's
// audio, without a model: a person says a few words and waits, a machine plays a long greeting and a tone.
package voicemail

import (
	"time"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

// The limits of the rules. They favor the verdict "person", because hanging up on a person is worse than talking to a machine.
const (
	frameTime = 20 * time.Millisecond

	// greetingPause is a pause within a greeting; a longer one ends it.
	greetingPause = time.Second
	// minPersonGreeting is the maximum length of a person's greeting. "Thank you for calling so and so, this is Anna, how may I help you?"
	// takes four seconds.
	minPersonGreeting = 5 * time.Second
	// latestStart is the latest start of a greeting. Later speech is an answer to the agent.
	latestStart = 3 * time.Second
	// shortest is the minimum duration of voice in a word.
	shortest = 100 * time.Millisecond
	// searchTime is the time of the search for a tone. Afterwards the verdict is a person, or unknown.
	searchTime = 30 * time.Second
	// greetingSilence is the silence after which a greeting without a tone is over.
	greetingSilence = 2 * time.Second
	// afterTone is the silence that confirms the end of a tone.
	afterTone = 200 * time.Millisecond
)

// Detector is the detection for one call, from its answer. Only one goroutine may use it.
type Detector struct {
	voice     *conversation.Detector
	tone      toneDetector
	elapsed   time.Duration
	began     time.Duration // time at which the first stretch of speech began
	voiceTime time.Duration // voice in it
	gap       time.Duration // since the last sound of a voice or a tone
	verdict   call.AnsweredBy
	beeped    bool // a tone was heard
	greeting  bool // the first stretch of speech continues, or ended too recently
}

// New returns a detector for audio of 8000, 16000 or 48000 samples a second.
func New(rate int) *Detector {
	return &Detector{voice: conversation.NewDetector(rate), tone: toneDetector{fold: max(1, rate/toneRate)}}
}

// Hear processes the next frame. Once decided, the verdict stays: a person, a machine, or unknown.
func (d *Detector) Hear(f conversation.Frame) (verdict call.AnsweredBy, decided bool) {
	d.elapsed += frameTime
	d.gap += frameTime
	voiced := d.voice.Voiced(f.In)
	switch tone := d.tone.hear(f.In); {
	case tone:
		d.gap = 0
		d.beeped = true
		if d.verdict == "" {
			d.verdict = call.AnsweredByVoicemail
		}
	case voiced:
		d.speak()
	}
	if d.verdict == "" {
		d.verdict = d.judge()
	}
	return d.verdict, d.verdict != ""
}

// speak processes a frame with speech.
func (d *Detector) speak() {
	if !d.greeting && d.voiceTime == 0 && d.elapsed <= latestStart {
		d.greeting, d.began = true, d.elapsed
	}
	if d.greeting {
		d.voiceTime += frameTime
	}
	d.gap = 0
}

// judge returns the verdict so far; empty: none yet.
func (d *Detector) judge() call.AnsweredBy {
	switch {
	case d.greeting && d.elapsed-d.gap-d.began >= minPersonGreeting:
		return call.AnsweredByVoicemail
	case d.greeting && d.gap >= greetingPause && d.voiceTime < shortest: // a click
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

// Ended reports whether the machine's greeting is over, so that a message can be left: after its tone or, without a tone, after a
// silence.
func (d *Detector) Ended() bool {
	if d.beeped {
		return d.gap >= afterTone
	}
	return d.gap >= greetingSilence
}
