package triagestore_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/triage"
)

// The store numbers the issues of each organization.
func Example() {
	ctx := context.Background()
	store := triagestore.Store{Store: memstore.New()}
	number, err := store.NextNumber(ctx, "acme")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := store.InsertIssue(ctx, triage.Issue{
		ID: "i1", Org: "acme", Number: number, Title: "Calls fail", Status: triage.StatusTodo, Author: triage.System(),
	}); err != nil {
		fmt.Println(err)
		return
	}
	issue, err := store.IssueNumbered(ctx, "acme", triage.FirstNumber)
	fmt.Println(issue.ID, issue.Title, issue.Revision, err)
	// Output: i1 Calls fail 1 <nil>
}
