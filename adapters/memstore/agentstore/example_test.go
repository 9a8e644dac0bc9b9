package agentstore_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents"
)

// The example shows that the store returns an inbound number with its agent only to the number's own organization.
func Example() {
	ctx := context.Background()
	numbers := agentstore.Numbers{Store: memstore.New()}
	if err := numbers.InsertNumber(ctx, agents.InboundNumber{
		Org: "acme", Number: "+15551234567", Agent: agents.Agent{Task: "Take orders.", Language: "en-US"},
	}); err != nil {
		fmt.Println(err)
		return
	}
	number, err := numbers.Number(ctx, "acme", "+15551234567")
	fmt.Println(number.Agent.Task, number.Version, err)
	_, err = numbers.Number(ctx, "other", "+15551234567")
	fmt.Println(err)
	// Output:
	// Take orders. 1 <nil>
	// inbound number not found
}
