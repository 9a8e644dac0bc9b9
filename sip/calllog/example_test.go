package calllog_test

import (
	"context"
	"fmt"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/health"
)

// deaf is a Monitor that ignores evidence about servers.
type deaf struct{}

func (deaf) Observe(context.Context, callwright.OrgID, string, string, health.Evidence) {}

func Example() {
	memory := memstore.New()
	log, err := calllog.New(calllog.Config{
		Store: sipstore.CallLog{Store: memory}, Leases: memstore.Leases{Store: memory}, Monitor: deaf{}, Node: "node-1",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, start := context.Background(), time.Now()
	attempt := calllog.Record{
		ID: "a1", Org: "acme", TrunkID: "t1", Number: "+15551234567", From: "+15551234567", To: "+15557654321", Attempt: 1, StartedAt: start,
	}
	log.Begin(ctx, attempt) // normally called by the user agent
	end := start.Add(time.Second)
	attempt.EndedAt, attempt.SIPCode, attempt.Status = &end, 486, "486 Busy Here"
	log.Finish(ctx, attempt, nil, nil)

	page, err := log.List(ctx, "acme", "+15551234567", "", 10)
	for _, record := range page.Items {
		fmt.Println(record.To, record.Status)
	}
	fmt.Println(err)
	// Output:
	// +15557654321 486 Busy Here
	// <nil>
}
