package riverwork_test

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/riverwork"
)

// pending lists the unfinished tasks in the fixtures: one that failed once, one that a dead node was running, one that was enqueued to run
// later, a unique one, and one with arguments. All are due by now.
var pending = []callwright.Task{
	{Kind: "fixture.failed", Key: "2", Org: "org-a", MaxAttempts: 5},
	{Kind: "fixture.running", Key: "3", Org: "org-a", MaxAttempts: 25},
	{Kind: "fixture.later", Key: "4", Org: "org-a", MaxAttempts: 25},
	{Kind: "fixture.unique", Key: "5", Org: "org-b", MaxAttempts: 25, Unique: true},
	{Kind: "fixture.args", Key: "6", Org: "org-b", MaxAttempts: 25, Args: []byte(`{"text":"it's \u0000 \"quoted\""}`)},
}

// TestUpgrade opens databases of River 0.34.0, loaded from testdata: they are migrated, and each unfinished task runs once, as it was
// enqueued.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	for name, address := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := "testdata/river-0.34-postgres.sql"
			if name == "sqlite" {
				file = "testdata/river-0.34-sqlite.sql"
			}
			fixture, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			at := address(t)
			load(t, at, string(fixture))
			_, work := open(t, at, func(c *riverwork.Config) { c.StepTimeout, c.RescueAfter = stepTimeout, rescueAfter })
			runs := make(chan callwright.Task, 100)
			note := func(_ context.Context, task callwright.Task, _ int) error {
				runs <- task
				return nil
			}
			work.Handle(callwright.QueueUpkeep, "fixture.done", note)
			for _, task := range pending {
				work.Handle(callwright.QueueUpkeep, task.Kind, note)
			}
			work.Handle(callwright.QueueUpkeep, "after", note)
			if err := work.Enqueue(t.Context(), pending[3]); err != nil { // not added, because the fixture contains it
				t.Fatal(err)
			}
			start(t, work)
			var ran []callwright.Task
			next := func() callwright.Task {
				select {
				case task := <-runs:
					return task
				case <-time.After(maxPollGap):
					t.Fatalf("%d tasks ran within %s: %+v", len(ran), maxPollGap, ran)
					return callwright.Task{}
				}
			}
			for range pending {
				ran = append(ran, next())
			}
			if err := work.Enqueue(t.Context(), callwright.Task{Kind: "after"}); err != nil {
				t.Fatal(err)
			}
			if last := next(); last.Kind != "after" {
				t.Errorf("then ran %+v", last)
			}
			slices.SortFunc(ran, func(a, b callwright.Task) int { return int(a.Key[0]) - int(b.Key[0]) })
			for i, task := range ran {
				want := pending[i]
				if task.Kind != want.Kind || task.Key != want.Key || task.Org != want.Org || task.MaxAttempts != want.MaxAttempts ||
					task.Unique != want.Unique || string(task.Args) != string(want.Args) {
					t.Errorf("ran %+v, want %+v", task, want)
				}
			}
		})
	}
}

// load executes the statements of a fixture in an empty database.
func load(t *testing.T, address, statements string) {
	t.Helper()
	ring, err := callwright.NewKeyring("k", map[string][]byte{"k": make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	db, err := bunstore.Open(t.Context(), address, bunstore.Config{Keyring: ring})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.SQL().ExecContext(t.Context(), statements); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
