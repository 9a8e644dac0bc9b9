package agentstest_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
)

// The Model returns scripted replies and records the requests.
func Example() {
	model := &agentstest.Model{Says: func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
		return agentstest.Texts("You said: ", r.Messages[0].Text), nil
	}}
	reply, err := agentstest.Collect(context.Background(), model, llm.ReplyRequest{
		Messages: []llm.Message{{Role: llm.RoleCaller, Text: "Hello."}},
	})
	fmt.Println(reply.Text, err)
	fmt.Println(model.Name(), len(model.Requests()))

	spoken := agentstest.Voice("Good morning.", 8000)
	fmt.Println(agentstest.TextOf(spoken))
	// Output:
	// You said: Hello. <nil>
	// fake 1
	// Good morning.
}
