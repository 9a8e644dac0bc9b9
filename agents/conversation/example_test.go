package conversation_test

import (
	"context"
	"errors"
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

// ExampleBatch recognizes two utterances in one session.
func ExampleBatch() {
	stream, err := conversation.Batch(&agentstest.Recognizer{}).Open(context.Background(), conversation.Hearing{Rate: 8000})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stream.Close()
	for _, text := range []string{"hello", "good morning"} {
		if err := errors.Join(stream.Write(agentstest.Voice(text, 8000)), stream.Force()); err != nil {
			fmt.Println(err)
			return
		}
	}
	for range 2 {
		heard, err := stream.Next(context.Background())
		fmt.Println(heard.Utterance, heard.Text, heard.Final, err)
	}
	// Output:
	// 0 hello true <nil>
	// 1 good morning true <nil>
}
