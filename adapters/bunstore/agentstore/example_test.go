package agentstore_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/agents"
)

// The example looks up the agent of an inbound number. Only the organization that owns the number finds it.
func Example() {
	ctx := context.Background()
	ring, err := callwright.NewKeyring("2026", map[string][]byte{"2026": []byte("32 bytes from a file with mode 0")})
	if err != nil {
		fmt.Println(err)
		return
	}
	db, err := bunstore.Open(ctx, "sqlite::memory:", bunstore.Config{Keyring: ring})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = db.Close() }()

	numbers := agentstore.Numbers{DB: db}
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
