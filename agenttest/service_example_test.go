package agenttest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/adapters/memstore/agentteststore"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/runner"
	"github.com/callwright/callwright/agenttest/scenario"
)

// This example stores pathways and scenarios in memory, and runs a scenario on the version in production.
func ExampleService() {
	ctx, stop := context.WithCancel(context.Background())
	store := memstore.New()
	work := memstore.NewWork(store, nil)
	pathways, err := pathway.New(pathway.Config{
		Store: agentstore.Pathways{Store: store}, Chats: agentstore.Chats{Store: store}, Atomic: store, Work: work,
		Interpreter: &pathway.Interpreter{Model: scripted.New()},
	})
	if err != nil {
		panic(err)
	}
	agent, err := runner.New(runner.Config{Versions: pathways})
	if err != nil {
		panic(err)
	}
	conversations, err := engine.New(engine.Config{Runner: agent, Model: scripted.New()})
	if err != nil {
		panic(err)
	}
	tests, err := agenttest.New(agenttest.Config{
		Store: agentteststore.Store{Store: store}, Atomic: store, Work: work, Leases: memstore.Leases{Store: store}, Node: "node-1",
		Pathways: pathways, Engine: conversations,
	})
	if err != nil {
		panic(err)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = work.Run(ctx) })
	running.Go(func() { _ = tests.Run(ctx) })
	defer running.Wait()
	defer stop()

	shop, err := publish(ctx, pathways)
	if err != nil {
		panic(err)
	}
	books, err := tests.CreateScenario(ctx, "acme", scenario.Scenario{
		Name: "Books a day", Pathway: shop, Kind: scenario.Replay,
		Messages: []scenario.Message{{Role: llm.RoleCaller, Text: "Tuesday, please."}},
		Assertions: []assert.Assertion{
			{Type: assert.RegexMatch, Required: true, Weight: 1, Config: json.RawMessage(`{"pattern": "see you then", "role": "assistant"}`)},
		},
	})
	if err != nil {
		panic(err)
	}
	run, err := tests.StartRun(ctx, "acme", books.ID, run.Request{})
	if err != nil {
		panic(err)
	}
	watcher, err := tests.WatchRun(ctx, "acme", run.ID, 0)
	if err != nil {
		panic(err)
	}
	defer watcher.Close()
	for !watcher.Over() {
		next, err := watcher.Next(ctx)
		if err != nil {
			panic(err)
		}
		run = next.Value
	}
	fmt.Println(run.Name, "on version", run.Version, "has", run.State)
	// Output: Books a day on version 1 has PASSED
}

// publish creates a pathway, puts its first version into production, and returns the pathway's id.
func publish(ctx context.Context, pathways *pathway.Service) (string, error) {
	p, err := pathways.Create(ctx, "acme", pathway.Draft{Name: "Appointments"})
	if err != nil {
		return "", err
	}
	version, err := pathways.StoreVersion(ctx, "acme", p.ID, "First", graph.Document{
		Nodes: []json.RawMessage{
			json.RawMessage(`{"id": "ask", "type": "Default", "data": {"isStart": true, "text": "Which day suits you?"}}`),
			json.RawMessage(`{"id": "bye", "type": "End Call", "data": {"text": "We will see you then."}}`),
		},
		Edges: []json.RawMessage{
			json.RawMessage(`{"id": "e1", "source": "ask", "target": "bye", "data": {"label": "the caller says \"Tuesday\""}}`),
		},
	})
	if err != nil {
		return "", err
	}
	_, err = pathways.Publish(ctx, "acme", p.ID, pathway.Publication{Number: version.Number})
	return p.ID, err
}
