package access_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
)

// This example creates an organization with a key, and authenticates with the key. For an example with a database, see bunstore/orgstore.
func Example() {
	ctx := context.Background()
	store := memstore.New()
	admin, err := access.New(access.Config{
		Store: orgstore.Tenants{Store: store}, Atomic: store, Secret: callwright.Secret(strings.Repeat("s", 32)),
	})
	check(err)

	org, err := admin.CreateOrganization(ctx, "acme", "Acme", callwright.EntitlementSIP)
	check(err)
	key, err := admin.CreateKey(ctx, org.ID, "ci", access.MaxLifetime)
	check(err)
	who, err := admin.CheckKey(ctx, key.Key.Reveal()) // Reveal returns the key's text
	check(err)
	fmt.Println(who.Org, who.KeyName, who.Entitlements, key.Key)

	next, err := admin.RotateKey(ctx, org.ID, key.Record.ID, 0) // with an overlap of 0, the old key expires immediately
	check(err)
	_, err = admin.CheckKey(ctx, key.Key.Reveal())
	fmt.Println(next.Record.Name, err)
	// Output:
	// acme ci [SIP] [redacted]
	// ci Unauthorized
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
