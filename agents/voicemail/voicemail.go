// Package voicemail tells an answering machine from a person by how a call begins. It listens to the other side only and
// needs no model: a person says a few words and waits, a machine recites, and then there is a tone.
package voicemail

import (
	"time"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

// The rules. They are ours, chosen to err towards a person: to hang up on somebody is worse than to talk to a machine.
const (
	frameTime = 20 * time.Millisecond

	// breath is a pause within a greeting; a longer one ends it.
	breath = time.Second
	// recital is how long a greeting may be that a person says. "Thank you for calling so and so, this is Anna, how may I
	// help you?" takes four seconds.
	recital = 5 * time.Second
	// latestStart is when a greeting begins at the latest. Who speaks later answers something that the agent has said.
	latestStart = 3 * time.Second
	// shortest is the voice that a word has at least.
	shortest = 100 * time.Millisecond
	// screening is how long the tone is listened for. Later there is a person, or nobody can tell.
	screening = 30 * time.Second
	// settled is the silence after which a greeting without a tone is over.
	settled = 2 * time.Second
	// afterTone is the silence that makes sure that a tone is over.
	afterTone = 200 * time.Millisecond
)

// Detector listens to one call, from its answer on. One goroutine uses it.
type Detector struct {
	voice    *conversation.Detector
	tone     toneDetector
	elapsed  time.Duration
	began    time.Duration // when the first stretch of speech began
	spoken   time.Duration // voice in it
	gap      time.Duration // since the last sound of a voice or a tone
	verdict  call.AnsweredBy
	beeped   bool // a tone was heard
	greeting bool // the first stretch of speech is under way, or not over for long enough
}

// New makes a detector for audio of 8000, 16000 or 48000 samples a second.
func New(rate int) *Detector {
	return &Detector{voice: conversation.NewDetector(rate), tone: toneDetector{fold: max(1, rate/toneRate)}}
}

// Hear takes the next frame. Once it is decided the verdict stays: a person, a machine, or that nobody can tell.
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

// speak takes a frame in which somebody speaks.
func (d *Detector) speak() {
	if !d.greeting && d.spoken == 0 && d.elapsed <= latestStart {
		d.greeting, d.began = true, d.elapsed
	}
	if d.greeting {
		d.spoken += frameTime
	}
	d.gap = 0
}

// judge returns the verdict on what was heard so far; empty while there is none.
func (d *Detector) judge() call.AnsweredBy {
	switch {
	case d.greeting && d.elapsed-d.gap-d.began >= recital:
		return call.AnsweredByVoicemail
	case d.greeting && d.gap >= breath && d.spoken < shortest: // a click
		d.greeting, d.spoken = false, 0
		return ""
	case d.greeting && d.gap >= breath:
		return call.AnsweredByHuman
	case d.elapsed >= screening:
		return call.AnsweredByUnknown
	default:
		return ""
	}
}

// Ended says whether the machine's greeting is over, so that a message can be left: after its tone, or, where no tone
// comes, after a silence.
func (d *Detector) Ended() bool {
	if d.beeped {
		return d.gap >= afterTone
	}
	return d.gap >= settled
}
