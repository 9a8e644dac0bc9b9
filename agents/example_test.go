package agents_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
)

// A web agent is made, and then led by a pathway.
func ExampleService() {
	ctx, store := context.Background(), memstore.New()
	service, err := agents.New(agents.Config{
		Store: agentstore.Numbers{Store: store}, WebAgents: agentstore.WebAgents{Store: store}, Atomic: store,
	})
	if err != nil {
		panic(err)
	}
	a, err := service.CreateAgent(ctx, "acme", agents.WebAgent{
		Agent: call.Agent{Task: "Help visitors to find a table.", FirstSentence: "Welcome."},
	})
	if err != nil {
		panic(err)
	}
	a, err = service.UpdateAgent(ctx, "acme", a.ID, func(a *agents.WebAgent) error {
		agents.SetPathway(&a.Agent, call.PathwayRef{ID: "tables"})
		return nil
	})
	fmt.Printf("%q %q %v\n", a.Agent.Pathway.ID, a.Agent.Task+a.Agent.FirstSentence, err)
	// Output: "tables" "" <nil>
}
