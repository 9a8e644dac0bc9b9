package prompted_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/prompted"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/tool"
)

// echo says all messages. It calls the first tool for words that end with "please", and ends the conversation after ten messages.
func echo(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
	var all []string
	for _, m := range r.Messages {
		all = append(all, fmt.Sprintf("%s %q.", m.Role, m.Text))
	}
	var last llm.Message
	if len(r.Messages) > 0 {
		last = r.Messages[len(r.Messages)-1]
	}
	parts := []llm.ReplyPart{{Expect: []string{"yes"}}, {Text: "I know " + strings.Join(all, " ")}, {Text: " Unheard: " + r.Unheard + "!"}}
	switch {
	case len(r.Tools) > 0 && last.Role == llm.RoleCaller && strings.HasSuffix(last.Text, "please"):
		parts = append(parts, llm.ReplyPart{Call: &llm.ToolCall{ID: "1", Name: r.Tools[0].Name}})
	case len(r.Messages) > 10:
		parts = append(parts, llm.ReplyPart{Action: llm.ActionEnd})
	}
	return parts, nil
}

// bookings returns a tool with a speech that sets the variable "id".
func bookings(t *testing.T) *tool.Set {
	t.Helper()
	tools, err := tool.NewSet([]json.RawMessage{
		[]byte(`{"name": "book", "url": "https://example.com/book", "response": {"id": "$.id"}, "speech": "I am booking."}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

// TestAnyWithdrawals checks that conversations with tools have the same words, messages, variables and requests with early answers that are
// withdrawn as without.
func TestAnyWithdrawals(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		var brains [2]*prompted.Brain
		var clients [2]*agentstest.Requests
		var observed [2]int
		for i := range brains {
			clients[i] = &agentstest.Requests{Answer: agentstest.JSON(`{"id": 7}`)}
			brains[i] = newBrain(t, prompted.Config{
				Model: &agentstest.Model{Says: echo}, Tools: bookings(t), Requests: clients[i], Variables: map[string]any{"name": "Ada"},
				Observe: func(request.Log) { observed[i]++ },
			})
		}
		speaks := [2]conversation.Brain{brains[0], agentstest.Hesitate(t, brains[1], seed)}
		for n, text := range []string{"hello there", "book it please", "no wait", "this one please"} {
			turn := conversation.Turn{Kind: conversation.TurnSpeech, Text: text, Interrupted: n == 2, Heard: "I"}
			var said [2]string
			for i, b := range speaks {
				for step, err := range b.Respond(t.Context(), turn) {
					said[i] += fmt.Sprintf("%v %v\n", step, err)
				}
			}
			if said[0] != said[1] {
				t.Errorf("seed %d: %q is answered with\n%s, with withdrawals\n%s", seed, text, said[0], said[1])
			}
			if a, b := brains[0].Talk(), brains[1].Talk(); !reflect.DeepEqual(a, b) || !reflect.DeepEqual(brains[0].Variables(), brains[1].Variables()) {
				t.Errorf("seed %d: after %q the talk is\n%+v, with withdrawals\n%+v", seed, text, a, b)
			}
		}
		if a, b := len(clients[0].Made()), len(clients[1].Made()); a != 2 || b != 2 || observed != [2]int{2, 2} {
			t.Errorf("seed %d: %d requests were sent, %d with withdrawals, observed %v", seed, a, b, observed)
		}
	}
}

// TestEarlyTool checks that the speech of a tool comes before the turn is certain, and that the tool waits.
func TestEarlyTool(t *testing.T) {
	t.Parallel()
	client := &agentstest.Requests{}
	b := newBrain(t, prompted.Config{Model: &agentstest.Model{Says: echo, Usage: llm.Usage{Input: 5}}, Tools: bookings(t), Requests: client})
	turn := speech("book it please")
	turn.Early = new(conversation.Early)
	var said []string
	for step, err := range b.Respond(t.Context(), turn) {
		said = append(said, fmt.Sprint(step, err))
		if step == (conversation.Say{Text: "I am booking."}) {
			if n := len(client.Made()); n > 0 {
				t.Errorf("%d requests were sent before the turn is certain", n)
			}
			turn.Early.Decide(true)
		}
	}
	if n := len(client.Made()); n != 1 || b.Usage().Input != 10 {
		t.Errorf("%d requests were sent, usage %v, the answer is %q", n, b.Usage(), said)
	}
}

// TestEarlyFailure checks that the failure of a model is reported only if the turn becomes certain, and that a withdrawn turn with a failure
// leaves no trace.
func TestEarlyFailure(t *testing.T) {
	t.Parallel()
	for _, certain := range []bool{false, true} {
		b := newBrain(t, prompted.Config{Model: &agentstest.Model{Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
			return nil, &llm.Failure{Class: llm.ClassPermanent, Message: "no"}
		}}})
		turn := speech("hi")
		turn.Early = new(conversation.Early)
		var failure error
		for _, err := range b.Respond(t.Context(), turn) {
			failure = errors.Join(failure, err)
			turn.Early.Decide(certain)
		}
		if (failure != nil) != certain || (len(b.Talk().Messages) > 0) != certain {
			t.Errorf("certain is %t: the error is %v, the talk %+v", certain, failure, b.Talk())
		}
	}
}
