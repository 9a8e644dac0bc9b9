package triage_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/triagetest"
)

// A program reports each failed run of its tests. Reports about one scenario belong to one issue until it is closed.
func ExampleService_Report() {
	ctx, memory, runs := context.Background(), memstore.New(), new(triagetest.Resolver)
	issues, err := triage.New(triage.Config{
		Store: triagestore.Store{Store: memory}, Atomic: memory, Work: memstore.NewWork(memory, nil),
		Resolvers: map[triage.ResourceType]triage.ResourceResolver{triage.ResourceRun: runs},
	})
	if err != nil {
		panic(err)
	}
	failed := func(scenario, run string) {
		runs.Add("acme", run, triage.Item{Title: "Run " + run}, triage.Evidence{})
		issue, err := issues.Report(ctx, "acme", triage.System(), triage.Report{
			Key: "run/" + scenario, Title: scenario + " fails", Severity: triage.SeverityHigh, Category: "test",
			Resources: []triage.ResourceDraft{{Type: triage.ResourceRun, ResourceID: run}},
		})
		if err != nil {
			panic(err)
		}
		fmt.Printf("run %s: %s %q, %d attached, %d related\n", run, issue.Name(), issue.Title, issue.Resources, issue.Relations)
	}
	failed("Closed on Sunday", "1")
	failed("Closed on Sunday", "2")
	failed("Asks for a person", "3")
	first, err := issues.List(ctx, "acme", triage.Query{Filter: triage.Filter{Search: "T-1001"}})
	if err != nil {
		panic(err)
	}
	done := triage.StatusDone
	if _, err := issues.Update(ctx, "acme", triage.System(), first.Items[0].ID, triage.Change{Status: &done}); err != nil {
		panic(err)
	}
	failed("Closed on Sunday", "4")
	// Output:
	// run 1: T-1001 "Closed on Sunday fails", 1 attached, 0 related
	// run 2: T-1001 "Closed on Sunday fails", 2 attached, 0 related
	// run 3: T-1002 "Asks for a person fails", 1 attached, 0 related
	// run 4: T-1003 "Closed on Sunday fails", 1 attached, 1 related
}
