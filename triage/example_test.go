package triage_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/triage"
)

// A program creates an issue, comments on it and reads its feed.
func Example() {
	ctx, memory := context.Background(), memstore.New()
	issues, err := triage.New(triage.Config{
		Store: triagestore.Store{Store: memory}, Atomic: memory, Work: memstore.NewWork(memory, nil),
	})
	if err != nil {
		panic(err)
	}
	ada := triage.Actor{Kind: triage.ActorUser, ID: "ada", Label: "Ada"}
	issue, err := issues.Create(ctx, "acme", ada, triage.Draft{Title: "Agent books a closed day", Severity: triage.SeverityHigh})
	if err != nil {
		panic(err)
	}
	if _, err := issues.Comment(ctx, "acme", ada, issue.ID, triage.CommentDraft{Detail: "Heard it myself."}); err != nil {
		panic(err)
	}
	page, err := issues.Activity(ctx, "acme", issue.ID, triage.PageRequest{})
	if err != nil {
		panic(err)
	}
	for _, e := range page.Items {
		fmt.Printf("%s, %s by %s: %s\n", issue.Name(), e.Type, e.Actor.Label, e.Detail)
	}
	// Output:
	// T-1001, comment by Ada: Heard it myself.
	// T-1001, created by Ada: Agent books a closed day
}
