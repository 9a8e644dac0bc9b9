package portingapi_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/transport/httpapi/portingapi"
)

// A Notifier sends an entry in the history of a port request to a webhook.
func ExampleNotifier() {
	r := porting.Request{ID: "p1", Org: "acme", State: porting.Submitted, Webhook: "https://hook.example"}
	e := porting.Entry{Number: 2, From: porting.WaitingForSignature, To: porting.Submitted, Event: porting.Signed}
	if err := portingapi.NewNotifier(outbox{}).NotifyPort(context.Background(), "p1/2", r, e); err != nil {
		panic(err)
	}
	// Output: acme p1-2 https://hook.example true
}

// outbox is a Sender that prints messages.
type outbox struct{}

func (outbox) Send(_ context.Context, org callwright.OrgID, id, url string, body []byte) error {
	fmt.Println(org, id, url, len(body) > 0)
	return nil
}
