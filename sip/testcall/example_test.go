package testcall_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/testcall"
)

// The example starts a test call, and polls it until its result is known.
func Example() {
	ctx, store := context.Background(), memstore.New()
	busy := func(_ context.Context, _ testcall.Placement, observe func(ladder.Event)) (testcall.Leg, error) {
		observe(ladder.Event{Note: ladder.NoteConnected, Transport: "TLS 1.3", Detail: "certificate verified"})
		observe(ladder.Event{Method: "INVITE", Status: 180})
		return nil, &testcall.Failure{Status: testcall.Busy, Code: 486, Reason: "the callee is busy"}
	}
	calls, err := testcall.New(testcall.Config{
		Store: sipstore.TestCalls{Store: store}, Trunks: trunks{}, Line: &line{place: busy}, Work: memstore.NewWork(store, nil),
	})
	if err != nil {
		log.Fatal(err)
	}
	c, err := calls.Start(ctx, "acme", "+15550000001")
	for err == nil && c.Result == testcall.Pending {
		<-time.After(10 * time.Millisecond)
		c, err = calls.Get(ctx, "acme", c.ID)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Status)
	for _, e := range c.Timeline {
		fmt.Printf("%s: %q\n", e.Name, e.Detail)
	}
	// Output:
	// busy
	// initiated: ""
	// connected: "TLS 1.3, certificate verified"
	// ringing: "SIP 180"
	// failed: "SIP 486: the callee is busy"
}
