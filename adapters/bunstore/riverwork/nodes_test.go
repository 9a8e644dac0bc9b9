package riverwork_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/riverwork"
)

// nodes opens one database count times concurrently, like nodes that start at the same time.
func nodes(t *testing.T, address string, count int) ([]*bunstore.DB, []*riverwork.Work) {
	t.Helper()
	dbs, works := make([]*bunstore.DB, count), make([]*riverwork.Work, count)
	var opening sync.WaitGroup
	for i := range count {
		opening.Go(func() { dbs[i], works[i] = open(t, address, nil) })
	}
	opening.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return dbs, works
}

func TestNodesShareTheWork(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, address string) {
		const count = 60
		dbs, works := nodes(t, address, 3)
		ran := make(chan string, 10*count)
		for i, work := range works {
			work.Handle(callwright.QueueUpkeep, "k", func(_ context.Context, task callwright.Task, _ int) error {
				ran <- task.Key
				return nil
			})
			start(t, work)
			for n := range count / len(works) {
				err := dbs[i].Do(t.Context(), func(ctx context.Context) error {
					return work.Enqueue(ctx, callwright.Task{Kind: "k", Key: fmt.Sprint(i, "-", n), Org: "o"})
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		seen := map[string]bool{}
		for len(seen) < count {
			key := next(t, ran)
			if seen[key] {
				t.Errorf("%s ran twice, and no node has died", key)
			}
			seen[key] = true
		}
	})
}

// TestNodesShareThePeriods checks that a periodic handler runs once per interval, on one of several nodes.
func TestNodesShareThePeriods(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, address string) {
		const ticks = 3
		dbs, works := nodes(t, address, 2)
		ran := make(chan string, 100)
		for _, work := range works {
			// The handler fails, so that the test notices retries, which periodic tasks must not have.
			work.Every(callwright.QueueUpkeep, "tick", 1, func(context.Context, callwright.Task, int) error {
				ran <- "tick"
				return errors.New("fails always")
			})
			start(t, work)
		}
		for range ticks {
			next(t, ran)
		}
		table := "river_job"
		if dbs[0].PostgresDSN() != "" {
			table = "river.river_job"
		}
		seconds := map[string]bool{}
		rows, err := dbs[0].SQL().QueryContext(t.Context(), "SELECT scheduled_at FROM "+table)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var at string
			if err := rows.Scan(&at); err != nil {
				t.Fatal(err)
			}
			second := at[:len("2006-01-02 15:04:05")]
			if seconds[second] {
				t.Errorf("two tasks for the second %s", second)
			}
			seconds[second] = true
		}
		if err := rows.Err(); err != nil || len(seconds) < ticks {
			t.Errorf("%d tasks, %v; %d have run", len(seconds), err, ticks)
		}
	})
}
