package triagestore_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/triagestore"
	"github.com/callwright/callwright/triage"
)

// The example shows that issues are numbered separately for each organization.
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

	store := triagestore.Store{DB: db}
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
