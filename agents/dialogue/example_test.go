package dialogue_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/llm"
)

// The example implements a short custom brain. It answers silence and noise without the model, and all other turns with the model.
func Example() {
	model := &agentstest.Model{Says: func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
		return agentstest.Texts("You said: ", r.Messages[len(r.Messages)-1].Text), nil
	}}
	lines := dialogue.Lines{Repeat: "Pardon?"}.Filled("en")
	var talk dialogue.Talk
	for _, turn := range []conversation.Turn{
		{Kind: conversation.TurnSpeech, Text: "I want a table. A large one."},
		{Kind: conversation.TurnSpeech, Interrupted: true, Heard: "You said: I want a table."}, // noise that interrupts
		{Kind: conversation.TurnSpeech},                                                        // noise again
		{Kind: conversation.TurnSpeech, Text: "Never mind.", Interrupted: true, Heard: ""},
	} {
		rest := talk.Hear(turn)
		courtesy := talk.Patience(turn, rest, nil)
		answer := talk.Answer(func(s conversation.Step) bool {
			fmt.Println(s)
			return true
		})
		if courtesy != dialogue.None {
			answer.Courtesy(courtesy, rest, lines)
			continue
		}
		if _, err := (dialogue.Speaker{Model: model}).Reply(context.Background(), answer, llm.ReplyRequest{}, nil); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// {You said: I want a table.}
	// {A large one.}
	// {A large one.}
	// {Pardon?}
	// {You said: Never mind.}
}
