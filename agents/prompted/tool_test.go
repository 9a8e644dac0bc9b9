package prompted_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/prompted"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/tool"
)

// TestTools checks that tools receive the agent's variables and the variables that earlier tools set, and that Observe is called for every
// tool call.
func TestTools(t *testing.T) {
	t.Parallel()
	tools, err := tool.NewSet([]json.RawMessage{
		[]byte(`{"name": "find", "url": "https://example.com/find/{{name}}", "response": {"id": "$.id"}}`),
		[]byte(`{"name": "book", "url": "https://example.com/book/{{id}}", "speech": "I am booking, {{name}}."}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	client := &agentstest.Requests{Answer: agentstest.JSON(`{"id": 7}`)}
	m := &model{replies: [][]any{
		{&llm.ToolCall{ID: "1", Name: "find"}}, {"I have found you."},
		{&llm.ToolCall{ID: "2", Name: "book"}}, {"Booked.", llm.ActionEnd},
	}}
	var seen []string
	b := newBrain(t, prompted.Config{
		Model: m, Tools: tools, Requests: client, Variables: map[string]any{"name": "Ada"},
		Observe: func(l request.Log) { seen = append(seen, l.URL) },
	})
	expect(t, b, speech("hi"), "Say{Text:I have found you.}")
	expect(t, b, conversation.Turn{Kind: conversation.TurnSpeech, Text: "book", Interrupted: true, Heard: "I have"},
		"Say{Text:I am booking, Ada.} / Say{Text:Booked.} / End{Reason:the agent was done}")
	if want := []string{"https://example.com/find/Ada", "https://example.com/book/7"}; !slices.Equal(seen, want) {
		t.Errorf("seen were %q, want %q", seen, want)
	}
	const want = `caller: hi | agent:  | tool: {"answer":{"id":7}} | agent: I have | caller: book | ` +
		`agent: I am booking, Ada. | tool: {"answer":{"id":7}}`
	if m.history() != want {
		t.Errorf("the model saw %s\nwant %s", m.history(), want)
	}
	if len(m.requests[0].Tools) != 2 {
		t.Errorf("the model is offered %+v", m.requests[0].Tools)
	}
}

// TestNothingAfterTool checks that an answer may end with a tool if the model has spoken before, and not if only the tool has a speech.
func TestNothingAfterTool(t *testing.T) {
	t.Parallel()
	call := &llm.ToolCall{ID: "1", Name: "book"}
	for _, spoke := range []bool{true, false} {
		m := &model{replies: [][]any{{call}, {" "}, {}}}
		want := "Say{Text:I am booking.}"
		if spoke {
			m.replies[0] = []any{"I do that.", call}
			want = "Say{Text:I do that.} / " + want
		}
		b := newBrain(t, prompted.Config{Model: m, Tools: bookings(t), Requests: &agentstest.Requests{}})
		got, err := respond(b, speech("book it"), 99)
		if spoke && got != want || !strings.HasPrefix(got, want) || (err == nil) != spoke || b.ModelCalls() != 3 {
			t.Errorf("spoke is %t: it says %s, %v, after %d model calls", spoke, got, err, b.ModelCalls())
		}
	}
}

// TestPersona checks that the model's instructions begin with the persona, before the task.
func TestPersona(t *testing.T) {
	t.Parallel()
	m := &model{replies: [][]any{{"Hello."}}}
	b := newBrain(t, prompted.Config{
		Model: m, Persona: "You are {{who}}.", Task: "Sell {{what}}.", Variables: map[string]any{"who": "Bo", "what": "tea"},
	})
	expect(t, b, speech("hi"), "Say{Text:Hello.}")
	if got := m.requests[0].Instructions; got != "You are Bo.\n\nSell tea." {
		t.Errorf("the instructions are %q", got)
	}
}
