package conversation

import (
	"strings"
	"time"

	"github.com/callwright/callwright/agents/conversation/overlap"
)

// Interruptibility is the agent's readiness to be interrupted by the caller's voice. Digits interrupt the agent at every level.
type Interruptibility uint8

// The levels of Interruptibility. See BargeIn for their limits.
const (
	Inherited              Interruptibility = iota // in a BargeIn, the level of the Config; in a Config, NormallyInterrupted
	NeverInterrupted                               // no voice interrupts the agent
	ReluctantlyInterrupted                         // only long speech, several words or a request to stop
	NormallyInterrupted                            // any words except back-channels
	ReadilyInterrupted                             // like NormallyInterrupted, after less voice
	ImmediatelyInterrupted                         // any voice, even a back-channel
)

// The maximums of the API's settings. The minimum of both is 0.
const (
	MaxInterruptibility = 4                // number of the level ImmediatelyInterrupted
	MaxThreshold        = 10 * time.Second // voice that pauses the agent
)

// InterruptibilityOf returns the level for a number of the API, from 0 (never) to MaxInterruptibility (immediately). Other numbers are
// clamped to this range.
func InterruptibilityOf(n int) Interruptibility {
	return NeverInterrupted + Interruptibility(min(max(n, 0), MaxInterruptibility))
}

// BargeIn configures which voice of the caller interrupts the following words of the same answer. Without this step, and after the zero
// BargeIn, the settings of the Config apply.
//
//	level                    pauses after   cuts after   cuts for words
//	NeverInterrupted         -              -            none
//	ReluctantlyInterrupted   500 ms         2.5 s        at least 3, a request to stop, or the answer to a question
//	NormallyInterrupted      200 ms         1.2 s        any except back-channels and fillers
//	ReadilyInterrupted       120 ms         600 ms       any except back-channels and fillers
//	ImmediatelyInterrupted   80 ms          80 ms        all
//
// The durations count voice. A paused agent continues unless the voice or its words cut the answer.
type BargeIn struct {
	Level     Interruptibility
	Threshold time.Duration // voice that pauses the agent; 0 means the threshold of the level; raises the voice that cuts, if necessary
}

// bargeInRule contains the limits of a BargeIn.
type bargeInRule struct {
	pause time.Duration // voice in a burst that pauses the agent; 0 means that no voice does
	cut   time.Duration // voice in a burst that cuts the answer, whatever the caller's words are
	words int           // minimum number of words that cut the answer; 0 means that even a back-channel does
}

// bargeInRules contains the rule of every level.
var bargeInRules = [...]bargeInRule{
	Inherited:              {},
	NeverInterrupted:       {},
	ReluctantlyInterrupted: {500 * time.Millisecond, 2500 * time.Millisecond, 3},
	NormallyInterrupted:    {200 * time.Millisecond, 1200 * time.Millisecond, 1},
	ReadilyInterrupted:     {120 * time.Millisecond, 600 * time.Millisecond, 1},
	ImmediatelyInterrupted: {shortestVoice, shortestVoice, 0},
}

// bargeInRule returns the rule for a sentence. A Level of the sentence other than Inherited replaces the Config's level and threshold. A
// Threshold of the sentence other than 0 replaces the threshold.
func (c *Config) bargeInRule(say BargeIn) bargeInRule {
	level, threshold := c.Interruptibility, c.Interruption
	if say.Level != Inherited {
		level, threshold = say.Level, 0
	}
	if say.Threshold > 0 {
		threshold = say.Threshold
	}
	r := bargeInRules[level]
	if r.pause > 0 && threshold > 0 {
		if r.pause == r.cut {
			r.cut = threshold
		}
		r.pause, r.cut = threshold, max(r.cut, threshold)
	}
	return r
}

// cuts reports whether the words of a caller cut the answer. said contains the agent's words: see overlap.ClassifyAfter.
func (r bargeInRule) cuts(language, said, text string) bool {
	kind := overlap.ClassifyAfter(language, said, text)
	switch {
	case r.pause == 0 || kind == overlap.Nothing:
		return false
	case r.words == 0 || kind == overlap.Stop:
		return true
	default:
		return kind == overlap.Words && (len(strings.Fields(text)) >= r.words || overlap.Asked(said))
	}
}
