package prompted_test

import (
	"slices"
	"testing"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/prompted"
)

// TestHintsForTheFirstSentence checks that the recognizer receives the model's hints for answers to a configured first sentence, although
// the model did not produce the sentence.
func TestHintsForTheFirstSentence(t *testing.T) {
	t.Parallel()
	b := newBrain(t, prompted.Config{
		Model: scripted.New(), FirstSentence: "Monday or {{other}}?", Variables: map[string]any{"other": "Tuesday"},
		Task: "when \"monday\" or \"tuesday\" after \"or tuesday\": say \"Noted.\" and end\n" +
			"when \"never\" after \"something else\": say \"Oh.\"",
	})
	var phrases []string
	for step, err := range b.Respond(t.Context(), conversation.Turn{Kind: conversation.TurnStart}) {
		if err != nil {
			t.Fatal(err)
		}
		if expect, ok := step.(conversation.Expect); ok {
			phrases = expect.Phrases
		}
	}
	if !slices.Equal(phrases, []string{"monday", "tuesday"}) {
		t.Errorf("the recognizer is told to expect %q", phrases)
	}
}
