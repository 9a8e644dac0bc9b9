package conversation

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/tts"
)

// Config holds what a Conversation needs. A duration that is zero has the default that its comment names.
type Config struct {
	// Required.
	Recognizer  Recognizer
	Synthesizer tts.Synthesizer

	// Optional.
	Observer Observer         // nil: none
	Clock    callwright.Clock // nil: callwright.SystemClock
	Logger   *slog.Logger     // nil: discards

	Voice    string // the name of a voice; empty: the synthesizer's default
	Language string // BCP 47; empty: the engines' default

	// Meanwhile holds the caller's speech and keys since another conversation on the call. They become the caller's turn once
	// the first sentence is over or interrupted.
	Meanwhile Meanwhile

	WaitForGreeting bool          // the agent waits for the caller's greeting, for at most Silence
	EndOfTurn       time.Duration // silence that ends the caller's turn (endpointing); 500 ms
	Interruption    time.Duration // voice that interrupts the agent (barge-in); 200 ms
	EchoGuard       time.Duration // time after the agent's first sound in which only a loud voice interrupts; 400 ms
	Silence         time.Duration // silence of the caller after which the brain gets a TurnSilence; 10 s
	InterDigit      time.Duration // pause that ends a sequence of digits; 2 s
	MaxTurn         time.Duration // the longest utterance; 30 s
	PreRoll         time.Duration // audio before the detected voice that the recognizer also gets; 300 ms
	Patience        time.Duration // time without a sound of the answer, and with none queued, after which the conversation fails; 20 s
	LastWords       time.Duration // time to recognize what the caller said before hanging up; 3 s
	Apology         string        // spoken before a failure ends the conversation; empty: an English sentence
}

// Observer is told what happens in a conversation. agentstest.RunObserver tests one.
type Observer interface {
	// Entry is called with each entry of the transcript, in the order of the turns. Entries are final. The conversation's
	// goroutines make one call at a time, and must not have to wait for it.
	Entry(e Entry)
}

// complete checks the configuration and sets its defaults.
func (c *Config) complete() error {
	switch {
	case c.Recognizer == nil:
		return errors.New("conversation: Config.Recognizer is required")
	case c.Synthesizer == nil:
		return errors.New("conversation: Config.Synthesizer is required")
	}
	for _, d := range []struct {
		name   string
		value  *time.Duration
		preset time.Duration
	}{
		{"EndOfTurn", &c.EndOfTurn, 500 * time.Millisecond},
		{"Interruption", &c.Interruption, 200 * time.Millisecond},
		{"EchoGuard", &c.EchoGuard, 400 * time.Millisecond},
		{"Silence", &c.Silence, 10 * time.Second},
		{"InterDigit", &c.InterDigit, 2 * time.Second},
		{"MaxTurn", &c.MaxTurn, 30 * time.Second},
		{"PreRoll", &c.PreRoll, 300 * time.Millisecond},
		{"Patience", &c.Patience, 20 * time.Second},
		{"LastWords", &c.LastWords, 3 * time.Second},
	} {
		if *d.value < 0 {
			return fmt.Errorf("conversation: Config.%s must not be negative", d.name)
		}
		if *d.value == 0 {
			*d.value = d.preset
		}
	}
	if c.Clock == nil {
		c.Clock = callwright.SystemClock{}
	}
	if c.Observer == nil {
		c.Observer = nobody{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Apology == "" {
		c.Apology = "I am sorry, something went wrong on our side. Goodbye."
	}
	return nil
}

// nobody is the Observer by default.
type nobody struct{}

func (nobody) Entry(Entry) {}
