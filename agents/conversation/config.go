package conversation

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation/endpoint"
	"github.com/callwright/callwright/speech/activity"
	"github.com/callwright/callwright/speech/tts"
)

// Config configures a Conversation. If a duration is zero, the default in its comment applies.
type Config struct {
	Recognizer  Recognizer      `required:"always"`
	Synthesizer tts.Synthesizer `required:"always"`
	Observer    Observer        // receives the transcript; may be nil

	// Activity returns the detector of a call's speech for a sample rate in Hz. If nil, an activity.Detector judges by energy alone. With a
	// network, such as silero.Network, it also rejects coughs, music and the voices of other people.
	Activity func(rate int) Activity

	// Turns judges when the caller's turn is over. If nil, endpoint.Rules judges.
	Turns TurnDetector

	Voice    string // name of a voice; empty means the synthesizer's default
	Language string // BCP 47; empty means the engines' default

	Keywords []string // names and terms that are likely in the calls; any text; a recognizer that cannot use them ignores them

	// Meanwhile contains the caller's speech and keys since a previous conversation on the call. They become the caller's turn after the
	// first sentence is over or interrupted.
	Meanwhile Meanwhile

	WaitForGreeting bool          // waits for the caller's greeting before the first sentence, for at most Silence
	EndOfTurn       time.Duration // minimum silence that ends the caller's turn (endpointing); endpoint.DefaultLeast
	LongestWait     time.Duration // maximum silence that ends the caller's turn; endpoint.DefaultLongest, or EndOfTurn if that is longer
	Interruption    time.Duration // voice that interrupts the agent (barge-in); the default of Interruptibility: see BargeIn
	EchoGuard       time.Duration // time after the agent's first sound in which only a loud voice interrupts; 400 ms
	Silence         time.Duration // silence of the caller after which the brain receives a TurnSilence; 10 s; see also Wait
	InterDigit      time.Duration // pause that ends a sequence of digits; 2 s
	MaxTurn         time.Duration // maximum length of an utterance; 30 s
	PreRoll         time.Duration // audio before the detected voice that the recognizer also receives; 300 ms
	// Patience is the time after which an answer fails that has no sound played or queued, and in which the words of an utterance must be
	// known; 20 s.
	Patience  time.Duration
	LastWords time.Duration // time to recognize the caller's words before a hangup; 3 s

	Interruptibility Interruptibility // readiness to be interrupted; NormallyInterrupted

	Filler Filler // bridges the time until the brain answers

	Apology string // spoken before a failure ends the conversation; empty means an English sentence: see also dialogue.Lines

	callwright.Runtime
}

// Observer receives the transcript of a conversation. agentstest.RunObserver tests it.
type Observer interface {
	// Entry receives an entry of the transcript, in the order of turns. Entries are final. Calls are never concurrent, but may come from
	// several goroutines of the conversation. Entry must not block.
	Entry(e Entry)
}

// complete checks the configuration and sets its defaults. It returns an error that names a missing or invalid field.
func (c *Config) complete() error {
	if err := callwright.PrepareConfig(c); err != nil {
		return err
	}
	if c.Interruptibility == Inherited {
		c.Interruptibility = NormallyInterrupted
	}
	if c.Interruptibility > ImmediatelyInterrupted {
		return fmt.Errorf("conversation: Config.Interruptibility must be from 0 to %d, not %d", ImmediatelyInterrupted, c.Interruptibility)
	}
	for _, d := range []struct {
		name   string
		value  *time.Duration
		preset time.Duration
	}{
		{"EndOfTurn", &c.EndOfTurn, endpoint.DefaultLeast},
		{"LongestWait", &c.LongestWait, max(endpoint.DefaultLongest, c.EndOfTurn)},
		{"Interruption", &c.Interruption, cmp.Or(bargeInRules[c.Interruptibility].pause, 200*time.Millisecond)},
		{"EchoGuard", &c.EchoGuard, 400 * time.Millisecond},
		{"Silence", &c.Silence, DefaultSilence},
		{"InterDigit", &c.InterDigit, 2 * time.Second},
		{"MaxTurn", &c.MaxTurn, 30 * time.Second},
		{"PreRoll", &c.PreRoll, 300 * time.Millisecond},
		{"Patience", &c.Patience, 20 * time.Second},
		{"LastWords", &c.LastWords, 3 * time.Second},
		{"Filler.After", &c.Filler.After, 0},
	} {
		if *d.value < 0 {
			return fmt.Errorf("conversation: Config.%s must not be negative", d.name)
		}
		if *d.value == 0 {
			*d.value = d.preset
		}
	}
	c.LongestWait = max(c.LongestWait, c.EndOfTurn)
	c.Filler.Text = strings.TrimSpace(callwright.Printable(c.Filler.Text))
	if len(c.Filler.Text) > tts.MaxText {
		return fmt.Errorf("conversation: Config.Filler.Text must have at most %d bytes", tts.MaxText)
	}
	if c.Filler.Text == "" {
		c.Filler.After = 0
	}
	if c.Activity == nil {
		c.Activity = func(rate int) Activity { return activity.New(rate, nil) }
	}
	if c.Turns == nil {
		c.Turns = endpoint.Rules{}
	}
	if c.Observer == nil {
		c.Observer = discardObserver{}
	}
	if c.Apology == "" {
		c.Apology = "I am sorry, something went wrong on our side. Goodbye."
	}
	return nil
}

// discardObserver is the default Observer. It discards all entries.
type discardObserver struct{}

func (discardObserver) Entry(Entry) {}
