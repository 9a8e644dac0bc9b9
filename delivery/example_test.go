package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/delivery"
)

// ExampleLog sends a message that the webhook accepts at the second attempt.
func ExampleLog() {
	ctx := context.Background()
	log, err := delivery.NewLog(delivery.LogConfig{Store: orgstore.Deliveries{Store: memstore.New()}})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := delivery.Message{Org: "acme", Kind: delivery.MessageCall, ID: "c1", Subject: "c1", URL: "https://example.com/hook"}
	begun := time.Now()
	for attempt, answer := range []error{errors.New("the answer is 503"), nil} {
		failure, putOff := log.Send(ctx, m, begun, func(context.Context) error { return answer })
		if putOff == nil {
			putOff = log.Redeliver(ctx, m, failure, begun, begun.Add(time.Duration(attempt)*5*time.Second))
		}
		wait, _ := callwright.RetryAfter(putOff)
		page, err := log.List(ctx, "acme", "", callwright.Keyset{}, 10)
		fmt.Println("again after", wait, "-", page.Items[0].State, page.Items[0].Attempts, err)
	}
	// Output:
	// again after 5s - pending 1 <nil>
	// again after 0s - delivered 2 <nil>
}
