package agenttestapi_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/transport/httpapi/agenttestapi"
)

// A Notifier sends the result of a run to a webhook.
func ExampleNotifier() {
	n := agenttestapi.NewNotifier(outbox{})
	if err := n.RunEnded(context.Background(), "https://hook.example", run.Run{ID: "r1", Org: "acme"}); err != nil {
		panic(err)
	}
	// Output: acme r1 https://hook.example true
}

// outbox is a Sender that prints messages.
type outbox struct{}

func (outbox) Send(_ context.Context, org callwright.OrgID, id, url string, body []byte) error {
	fmt.Println(org, id, url, len(body) > 0)
	return nil
}
