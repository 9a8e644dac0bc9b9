package handover_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/handover"
	"github.com/callwright/callwright/agents/prompted"
)

func Example() {
	brain, err := handover.New(handover.Config{Task: prompted.Config{
		Model: scripted.New(), // follows the rules of the task, as a language model would
		Task:  "start: say \"Good morning. How many tickets?\"\nwhen \"two\": say \"Two tickets. Goodbye.\" and end",
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, turn := range []conversation.Turn{{Kind: conversation.TurnStart}, {Kind: conversation.TurnSpeech, Text: "Two, please."}} {
		for step, err := range brain.Respond(context.Background(), turn) {
			if _, hint := step.(conversation.Expect); !hint { // the phrases that the caller may say next
				fmt.Printf("%+v %v\n", step, err)
			}
		}
	}
	// Output:
	// {Text:Good morning.} <nil>
	// {Text:How many tickets?} <nil>
	// {Text:Two tickets.} <nil>
	// {Text:Goodbye.} <nil>
	// {Reason:the agent was done} <nil>
}
