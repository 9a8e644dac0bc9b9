package agentstest_test

import (
	"encoding/json"
	"testing"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

func TestAgents(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	s, err := agents.New(agents.Config{
		Numbers: agentstore.Numbers{Store: store}, WebAgents: agentstore.WebAgents{Store: store}, Atomic: store,
	})
	if err != nil {
		t.Fatal(err)
	}
	agentstest.RunAgents(t, s, "a", "+15550000001")
}

func TestPathways(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	s, err := pathway.New(pathway.Config{
		Store: agentstore.Pathways{Store: store}, Chats: agentstore.Chats{Store: store}, Atomic: store,
		Work: memstore.NewWork(store, nil), Interpreter: &pathway.Interpreter{Model: &agentstest.Model{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	document := graph.Document{Nodes: []json.RawMessage{
		json.RawMessage(`{"id":"bye","type":"End Call","data":{"name":"Bye","isStart":true,"text":"bye"}}`),
	}}
	p, err := s.Create(t.Context(), "a", pathway.Draft{Name: "One", Document: document})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.StoreVersion(t.Context(), "a", p.ID, "First", document); err != nil {
		t.Fatal(err)
	}
	agentstest.RunPathways(t, s, "a", "b", p.ID)
}
