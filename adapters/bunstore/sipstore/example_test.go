package sipstore_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/sip"
)

// The example shows that the store replaces a trunk only if it has not changed since it was read.
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

	trunks := sipstore.Trunks{DB: db}
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
	trunk.Endpoint = "sip:late.example.com" // trunk.Version is from before the update
	fmt.Println(trunks.Update(ctx, trunk))
	// Output:
	// +15551234567 outbound sip:pbx.example.com <nil>
	// <nil>
	// the object already exists, or another request has changed it: read it again, then retry
}
