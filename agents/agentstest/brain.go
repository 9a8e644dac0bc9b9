package agentstest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/speech/tts"
)

// brainTime bounds every answer in RunBrain.
const brainTime = 10 * time.Second

// RunBrain tests a conversation.Brain. newBrain returns a brain at the beginning of a conversation in which it speaks first. Each answer
// must end within 10 seconds, even if its context was canceled before. If the brain is a conversation.EarlyBrain, it must answer early after
// its first words, and newBrain must return brains that answer equal turns equally.
func RunBrain(t *testing.T, newBrain func(t *testing.T) conversation.Brain) {
	t.Helper()
	start := conversation.Turn{Kind: conversation.TurnStart}
	t.Run("SpeaksFirst", func(t *testing.T) {
		if said := respond(t, newBrain(t), start); said == "" {
			t.Error("it says nothing")
		}
	})
	t.Run("TakesEveryTurn", func(t *testing.T) {
		for _, turn := range []conversation.Turn{
			{Kind: conversation.TurnSpeech, Text: "Hello."},
			{Kind: conversation.TurnSpeech}, // no word was understood
			{Kind: conversation.TurnDigits, Text: "12"},
			{Kind: conversation.TurnSilence},
			{Kind: conversation.TurnSpeech, Text: "No.", Interrupted: true},
			{Kind: conversation.TurnDigits, Text: "3", Interrupted: true, Heard: "Never said"},
		} {
			b := newBrain(t)
			respond(t, b, start)
			respond(t, b, turn)
		}
	})
	t.Run("TakesTheCallersGreetingFirst", func(t *testing.T) {
		if said := respond(t, newBrain(t), conversation.Turn{Kind: conversation.TurnSpeech, Text: "Hello?"}); said == "" {
			t.Error("it says nothing")
		}
	})
	t.Run("StopsWithItsConsumer", func(t *testing.T) {
		b := newBrain(t)
		steps := 0
		for _, err := range b.Respond(t.Context(), start) {
			if steps++; err != nil {
				t.Error(err)
			}
			break
		}
		if steps != 1 {
			t.Errorf("%d steps came", steps)
		}
		respond(t, b, conversation.Turn{Kind: conversation.TurnSpeech, Text: "Hello.", Interrupted: true})
	})
	t.Run("StopsWithItsContext", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		b, ended := newBrain(t), make(chan struct{})
		go func() {
			defer close(ended)
			for range b.Respond(ctx, start) { //nolint:errcheck // only its end matters
			}
		}()
		select {
		case <-ended:
			respond(t, b, conversation.Turn{Kind: conversation.TurnSpeech, Text: "Hello.", Interrupted: true})
		case <-time.After(brainTime):
			t.Error("the answer does not end with its context")
		}
	})
	if _, ok := newBrain(t).(conversation.EarlyBrain); ok {
		t.Run("Early", func(t *testing.T) {
			runEarlyBrain(t, func(t *testing.T) conversation.EarlyBrain {
				t.Helper()
				b, _ := newBrain(t).(conversation.EarlyBrain)
				return b
			})
		})
	}
}

// respond reads an answer to its end, checks that a call can perform every step, and returns the spoken text.
func respond(t *testing.T, b conversation.Brain, turn conversation.Turn) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), brainTime)
	defer cancel()
	var said []string
	over := false
	for step, err := range b.Respond(ctx, turn) {
		if err != nil {
			t.Errorf("%+v is answered with %v", turn, err)
			continue
		}
		if over {
			t.Errorf("%+v: %#v comes after the end", turn, step)
		}
		switch step := step.(type) {
		case conversation.Say:
			said = append(said, step.Text)
			if strings.TrimSpace(step.Text) == "" || len(step.Text) > tts.MaxText {
				t.Errorf("%+v: it says %q", turn, step.Text)
			}
		case conversation.Press:
			if step.Digits == "" || strings.Trim(step.Digits, "0123456789ABCD*#w") != "" {
				t.Errorf("%+v: it presses %q", turn, step.Digits)
			}
		case conversation.Transfer:
			if over = true; step.To == "" {
				t.Errorf("%+v: it transfers to nobody", turn)
			}
		case conversation.End:
			over = true
		case nil:
			t.Errorf("%+v: a step is nil", turn)
		}
	}
	return strings.Join(said, " ")
}
