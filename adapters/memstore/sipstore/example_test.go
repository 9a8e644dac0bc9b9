package sipstore_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip"
)

// The store replaces a trunk only if the trunk has not changed since the caller read it.
func Example() {
	ctx := context.Background()
	trunks := sipstore.Trunks{Store: memstore.New()}
	if err := trunks.Insert(ctx, sip.Trunk{
		ID: "t1", Org: "acme", Number: "+15551234567", Direction: sip.Outbound, Endpoint: "sip:pbx.example.com",
	}); err != nil {
		fmt.Println(err)
		return
	}
	trunk, err := trunks.Trunk(ctx, "acme", "t1")
	fmt.Println(trunk.Number, trunk.Direction, trunk.Endpoint, err)
	trunk.Endpoint = "sip:new.example.com"
	fmt.Println(trunks.Update(ctx, trunk))
	trunk.Endpoint = "sip:late.example.com" // trunk still has the version before the update
	fmt.Println(trunks.Update(ctx, trunk))
	// Output:
	// +15551234567 outbound sip:pbx.example.com <nil>
	// <nil>
	// the object already exists, or another request has changed it: read it again, then retry
}
