package agentteststore_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/scenario"
)

// The example shows that the store refuses a second scenario with the same name.
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

	store := agentteststore.Store{DB: db}
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
