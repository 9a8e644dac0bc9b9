package agents_test

import (
	"context"
	"fmt"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents"
)

// The example creates a web agent and updates it. The invalid setting is refused, and the valid setting is applied.
func ExampleService() {
	ctx, store := context.Background(), memstore.New()
	service, err := agents.New(agents.Config{
		Numbers: agentstore.Numbers{Store: store}, WebAgents: agentstore.WebAgents{Store: store}, Atomic: store,
	})
	if err != nil {
		panic(err)
	}
	w, err := service.CreateAgent(ctx, "acme", agents.WebAgent{Agent: agents.Agent{Task: "Help visitors to find a table."}})
	if err != nil {
		panic(err)
	}
	w, report, err := service.UpdateAgent(ctx, "acme", w.ID, agents.WebAgentPatch{Patch: agents.Patch{
		FirstSentence: callwright.Given("Welcome."), MaxDuration: callwright.Given(-time.Minute),
	}})
	if err != nil {
		panic(err)
	}
	fmt.Println(w.Agent.FirstSentence, w.Agent.MaxDuration)
	fmt.Println(report[agents.SettingMaxDuration])
	// Output:
	// Welcome. 30m0s
	// max_duration: must be more than 0 and at most 720 minutes
}
