package riverwork_test

import (
	"context"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/pgtest"
)

// TestDelayedAfterOutage stops the database while a task becomes due, for less and for more than the lease of a leader: the task runs after
// the outage. Its delay is logged; docs/operations.md states the bound.
func TestDelayedAfterOutage(t *testing.T) {
	t.Parallel()
	for name, lasts := range map[string]time.Duration{"short": 4 * time.Second, "long": 16 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := pgtest.NewServer(t)
			_, work := open(t, server.DSN(), nil)
			ran := make(chan string, 10)
			work.Handle(callwright.QueueUpkeep, "k", func(_ context.Context, task callwright.Task, _ int) error {
				ran <- task.Key
				return nil
			})
			start(t, work)
			enqueue(t, work, callwright.Task{Kind: "k", Key: "before", Org: "o", RunAt: time.Now().Add(time.Second)})
			next(t, ran) // a leader is elected
			enqueue(t, work, callwright.Task{Kind: "k", Key: "meanwhile", Org: "o", RunAt: time.Now().Add(6 * time.Second)})
			server.Stop(t)
			<-time.After(lasts) // duration of the outage
			server.Start(t)
			began := time.Now()
			if key := next(t, ran); key != "meanwhile" {
				t.Errorf("%s ran", key)
			}
			t.Logf("after an outage of %v it ran after %v", lasts, time.Since(began).Round(time.Millisecond))
		})
	}
}
