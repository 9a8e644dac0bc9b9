package callwright_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
)

// reminder holds the arguments of a task, as JSON.
type reminder struct {
	Number callwright.PhoneNumber `json:"number"`
	Text   string                 `json:"text"`
}

const remind callwright.TaskKind[reminder] = "example.remind"

// The example enqueues a task in the transaction that changes a store, so that both commit together.
func Example() {
	memory := memstore.New()
	work := memstore.NewWork(memory, nil)
	ctx, stop := context.WithCancel(context.Background())
	remind.Handle(work, callwright.QueueUpkeep, slog.Default(), func(_ context.Context, task callwright.Task, r reminder, attempt int) error {
		fmt.Printf("%s, attempt %d: %s to %s\n", task.Key, attempt, r.Text, r.Number)
		stop()
		return nil
	})
	err := memory.Do(ctx, func(ctx context.Context) error {
		// … change a store in the same transaction …
		task := callwright.Task{Key: "appointment 7", Org: "acme", Unique: true}
		return remind.Enqueue(ctx, work, task, reminder{Number: "+15551234567", Text: "See you at nine."})
	})
	if err != nil {
		fmt.Println(err)
	}
	_ = work.Run(ctx)
	// Output: appointment 7, attempt 1: See you at nine. to +15551234567
}
