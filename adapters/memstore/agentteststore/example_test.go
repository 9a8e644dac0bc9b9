package agentteststore_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentteststore"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/scenario"
)

// The store rejects a second scenario with the same name.
func Example() {
	ctx := context.Background()
	store := agentteststore.Store{Store: memstore.New()}
	if err := store.InsertScenario(ctx, scenario.Scenario{ID: "s1", Org: "acme", Pathway: "p1", Name: "Orders a pizza", MaxTurns: 6}); err != nil {
		fmt.Println(err)
		return
	}
	stored, err := store.Scenario(ctx, "acme", "s1")
	fmt.Println(stored.Name, stored.Revision, err)
	err = store.InsertScenario(ctx, scenario.Scenario{ID: "s2", Org: "acme", Pathway: "p1", Name: "Orders a pizza"})
	fmt.Println(errors.Is(err, agenttest.ErrNameTaken))
	// Output:
	// Orders a pizza 1 <nil>
	// true
}
