package pathway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// keywords is a program's own language model. It replies with the prompt itself, and chooses the option whose label the caller has said, or
// else the last option, which stays at the node.
type keywords struct{}

func (keywords) Name() string { return "keywords" }

func (keywords) Reply(_ context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) { yield(llm.ReplyPart{Text: r.Instructions}, nil) }
}

func (keywords) Answer(_ context.Context, q llm.Question) (llm.Answer, error) {
	chosen := q.Options[len(q.Options)-1] // the last option: stay at the node
	for _, o := range q.Options {
		if strings.Contains(q.Messages[len(q.Messages)-1].Text, o.Label) {
			chosen = o
		}
	}
	answer, err := json.Marshal(map[string]string{"option": chosen.ID, "reason": "the caller said so"})
	return llm.Answer{JSON: answer}, err
}

func ExampleInterpreter() {
	g, err := graph.Compile(graph.Document{
		Nodes: []json.RawMessage{
			[]byte(`{"id": "day", "type": "Default", "data": {"isStart": true, "prompt": "{{name}}, Monday or Tuesday?"}}`),
			[]byte(`{"id": "bye", "type": "End Call", "data": {"text": "See you."}}`)},
		Edges: []json.RawMessage{
			[]byte(`{"id": "e", "source": "day", "target": "bye", "data": {"label": "Monday"}}`)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	brain, err := pathway.NewBrain(pathway.BrainConfig{
		Interpreter: &pathway.Interpreter{Model: keywords{}},
		Graph:       g,
		State:       pathway.Begin(map[string]any{"name": "Ada"}, ""),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, turn := range []conversation.Turn{{Kind: conversation.TurnStart}, {Kind: conversation.TurnSpeech, Text: "Monday, please"}} {
		for step, err := range brain.Respond(context.Background(), turn) {
			fmt.Printf("%T %v %v\n", step, step, err)
		}
	}
	// Output:
	// conversation.Say {Ada, Monday or Tuesday?} <nil>
	// conversation.Say {See you.} <nil>
	// conversation.End {the pathway has come to its end} <nil>
}
