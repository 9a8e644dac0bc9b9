package join_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/adapters/join"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/triage"
)

// This example reads the evidence about a call, as an analyst of an issue does: the call's facts and its transcript. Another organization
// cannot read it.
func Example() {
	ctx := context.Background()
	calls := agentstore.Calls{Store: memstore.New()}
	if err := calls.Insert(ctx, call.Call{
		ID: "c1", Org: "acme", From: "+15550000001", To: "+15551234567", Queue: call.QueueComplete, Status: call.StatusCompleted,
	}); err != nil {
		fmt.Println(err)
		return
	}
	if err := calls.Append(ctx, "acme", "c1", call.Entry{Speaker: call.SpeakerUser, Text: "The line is bad."}); err != nil {
		fmt.Println(err)
		return
	}
	var resolver triage.ResourceResolver = join.Calls{Store: calls}
	evidence, err := resolver.Read(ctx, "acme", "c1")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(evidence.Facts["to"], evidence.Facts["status"])
	fmt.Println(evidence.Lines[0].Text)
	_, err = resolver.Read(ctx, "other", "c1")
	fmt.Println(err)
	// Output:
	// +15551234567 completed
	// The line is bad.
	// call not found
}
