package conversation_test

import (
	"context"
	"fmt"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
)

// transcript is an Observer that prints the spoken words.
type transcript struct{}

func (transcript) Entry(e conversation.Entry) { fmt.Printf("%s: %s\n", e.Role, e.Text) }

// A whole conversation: the agent asks one question, and the example plays the caller.
func Example() {
	talk, err := conversation.New(conversation.Config{
		Recognizer:  &agentstest.Recognizer{},
		Synthesizer: &agentstest.Synthesizer{},
		Observer:    transcript{},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	agent := &brain{answer: func(t conversation.Turn) []conversation.Step {
		if t.Kind == conversation.TurnStart {
			return []conversation.Step{conversation.Say{Text: "Good morning. How many tickets?"}}
		}
		return []conversation.Step{conversation.Say{Text: "You get " + t.Text + "."}, conversation.End{Reason: "sold"}}
	}}

	phone := agentstest.NewPhone(agentstest.PhoneConfig{Pace: time.Millisecond}) // twenty times as fast as real time
	phone.SayAfter("tickets?", "  three")
	outcome, err := talk.Run(context.Background(), phone.Leg(), agent)
	fmt.Println(outcome.By, outcome.Reason, err)
	// Output:
	// agent: Good morning. How many tickets?
	// caller: three
	// agent: You get three.
	// agent sold <nil>
}
