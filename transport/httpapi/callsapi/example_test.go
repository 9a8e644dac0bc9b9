package callsapi_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/httpapi/callsapi"
)

// A Notifier sends the record of a call to a webhook.
func ExampleNotifier() {
	n := callsapi.NewNotifier(outbox{}, "https://voice.example.com")
	if err := n.Notify(context.Background(), "acme", "https://hook.example", call.Call{ID: "c1"}, nil, nil); err != nil {
		panic(err)
	}
	// Output: acme c1 https://hook.example true
}

// outbox is a Sender that prints messages.
type outbox struct{}

func (outbox) Send(_ context.Context, org callwright.OrgID, id, url string, body []byte) error {
	fmt.Println(org, id, url, len(body) > 0)
	return nil
}
