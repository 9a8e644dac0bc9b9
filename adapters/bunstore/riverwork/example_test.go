package riverwork_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/riverwork"
)

// The example stores a task, and the state that it belongs to, in one transaction.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
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
	config := riverwork.Config{SQL: db.SQL(), Tx: db.Tx, Atomic: db, PostgresDSN: db.PostgresDSN()}
	if err := riverwork.Migrate(ctx, config); err != nil {
		fmt.Println(err)
		return
	}
	work, err := riverwork.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}

	tenants, done := orgstore.Tenants{DB: db}, make(chan struct{})
	work.Handle(callwright.QueueUpkeep, "welcome", func(ctx context.Context, task callwright.Task, _ int) error {
		defer close(done)
		org, err := tenants.Organization(ctx, task.Org)
		fmt.Println("Welcome,", org.Name)
		return err
	})
	var running sync.WaitGroup
	running.Go(func() {
		if err := work.Run(ctx); err != nil {
			fmt.Println(err)
		}
	})
	err = db.Do(ctx, func(ctx context.Context) error {
		if err := tenants.InsertOrganization(ctx, callwright.Organization{ID: "acme", Name: "Acme"}); err != nil {
			return err
		}
		return work.Enqueue(ctx, callwright.Task{Kind: "welcome", Org: "acme"})
	})
	if err != nil {
		fmt.Println(err)
	}
	<-done
	cancel()
	running.Wait()
	// Output: Welcome, Acme
}
