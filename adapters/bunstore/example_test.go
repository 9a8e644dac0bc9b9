package bunstore_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/agents/call"
)

// The example shows that a transaction is atomic.
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

	calls := agentstore.Calls{DB: db}
	err = db.Do(ctx, func(ctx context.Context) error {
		if err := calls.Insert(ctx, call.Call{ID: "c1", Org: "acme", Queue: call.QueueQueued}); err != nil {
			return err
		}
		return errors.New("on second thoughts, no call")
	})
	fmt.Println(err)
	_, err = calls.Get(ctx, "acme", "c1")
	fmt.Println(err)
	// Output:
	// on second thoughts, no call
	// call not found
}
