package memstore_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
)

// The example shows that a failed transaction enqueues no task, and that the task of a committed transaction runs.
func Example() {
	store := memstore.New()
	work := memstore.NewWork(store, nil)
	ran := make(chan string)
	work.Handle("calls", "call.place", func(_ context.Context, t callwright.Task, attempt int) error {
		ran <- fmt.Sprint(t.Key, " attempt ", attempt)
		return nil
	})
	ctx, cancel := context.WithCancel(context.Background())
	fmt.Println(store.Do(ctx, func(ctx context.Context) error {
		if err := work.Enqueue(ctx, callwright.Task{Kind: "call.place", Org: "acme", Key: "c1"}); err != nil {
			return err
		}
		return errors.New("no credit")
	}))
	fmt.Println(store.Do(ctx, func(ctx context.Context) error {
		return work.Enqueue(ctx, callwright.Task{Kind: "call.place", Org: "acme", Key: "c2"})
	}))

	over := make(chan error)
	go func() { over <- work.Run(ctx) }()
	fmt.Println(<-ran)
	cancel()
	fmt.Println(<-over)
	// Output:
	// no credit
	// <nil>
	// c2 attempt 1
	// <nil>
}
