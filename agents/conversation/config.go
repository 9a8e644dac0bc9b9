package conversation

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/callwright/callwright"
)

// Config is how a conversation goes. Recognizer and Synthesizer are required; zero values of the rest are the defaults.
type Config struct {
	Recognizer  Recognizer
	Synthesizer Synthesizer
	Clock       callwright.Clock // nil: the machine's
	Observer    Observer         // nil: nobody looks on
	Logger      *slog.Logger     // nil: discards

	Voice    string // a voice's name; empty: the synthesizer's default
	Language string // BCP 47; empty: the engines' default

	WaitForGreeting bool          // the caller speaks first, or is silent for Silence
	EndOfTurn       time.Duration // without voice, after which the caller has finished; 500 ms
	Interruption    time.Duration // of voice that breaks into what the agent says; 200 ms
	EchoGuard       time.Duration // from the agent's first sound on, in which only a loud caller breaks in; 400 ms
	Silence         time.Duration // of the caller, after which the brain gets a TurnSilence; 10 s
	InterDigit      time.Duration // after a digit, after which no further one comes; 2 s
	MaxTurn         time.Duration // the longest utterance; 30 s
	PreRoll         time.Duration // of audio before the voice was noticed that the recognizer gets too; 300 ms
	Patience        time.Duration // without a sound of an answer, after which the conversation has failed; 20 s
	LastWords       time.Duration // for recognizing what the caller said before hanging up; 3 s
	Apology         string        // said before a failure ends the conversation; an English sentence
}

// Observer looks on. It is called from the conversation's goroutines, one call at a time, and must not wait.
type Observer interface {
	// Entry is the next entry of the transcript. Entries come in the order of the turns and are final.
	Entry(e Entry)
}

// settle checks the configuration and fills in its defaults.
func (c *Config) settle() error {
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

// nobody looks on.
type nobody struct{}

func (nobody) Entry(Entry) {}
