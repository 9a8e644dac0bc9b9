package pathway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// clerk is a custom language model: it always says the same words, and chooses the first option.
type clerk struct{}

func (clerk) Name() string { return "clerk" }

func (clerk) Reply(context.Context, llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) { yield(llm.ReplyPart{Text: "We will see you then."}, nil) }
}

func (clerk) Answer(_ context.Context, q llm.Question) (llm.Answer, error) {
	choice, err := json.Marshal(map[string]string{"reason": "it is the first", "option": q.Options[0].ID})
	return llm.Answer{JSON: choice}, err
}

// A program stores a pathway, publishes it, and chats with it.
func ExampleService() {
	ctx, store := context.Background(), memstore.New()
	service, err := pathway.New(pathway.Config{
		Store: agentstore.Pathways{Store: store}, Chats: agentstore.Chats{Store: store}, Atomic: store,
		Work: memstore.NewWork(store, nil), Interpreter: &pathway.Interpreter{Model: clerk{}},
	})
	if err != nil {
		panic(err)
	}
	graph := graph.Document{
		Nodes: []json.RawMessage{
			json.RawMessage(`{"id": "ask", "type": "Default", "data": {"isStart": true, "text": "{{shop}}, which day suits you?"}}`),
			json.RawMessage(`{"id": "bye", "type": "End Call", "data": {"prompt": "Confirm the day."}}`),
		},
		Edges: []json.RawMessage{
			json.RawMessage(`{"id": "e1", "source": "ask", "target": "bye", "data": {"label": "the caller has named a day"}}`),
		},
	}
	p, err := service.Create(ctx, "acme", pathway.Draft{Name: "Appointments"})
	if err != nil {
		panic(err)
	}
	version, err := service.StoreVersion(ctx, "acme", p.ID, "First", graph)
	if err != nil {
		panic(err)
	}
	if _, err := service.Publish(ctx, "acme", p.ID, pathway.Publication{Number: version.Number}); err != nil {
		panic(err)
	}
	turn, err := service.StartChat(ctx, "acme", pathway.ChatRequest{
		Pathway: p.ID, Variables: map[string]any{"shop": "North Bicycles"},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(turn.Replies)
	turn, err = service.Say(ctx, "acme", turn.Chat.ID, "Tuesday, please.")
	fmt.Println(turn.Replies, turn.Chat.Completed, err)
	// Output:
	// [North Bicycles, which day suits you?]
	// [We will see you then.] true <nil>
}
