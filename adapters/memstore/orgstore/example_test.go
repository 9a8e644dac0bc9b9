package orgstore_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
)

// The store returns an organization with its webhook secret, which prints redacted.
func Example() {
	ctx := context.Background()
	tenants := orgstore.Tenants{Store: memstore.New()}
	if err := tenants.InsertOrganization(ctx, callwright.Organization{
		ID: "acme", Name: "Acme", Entitlements: []callwright.Entitlement{callwright.EntitlementSIP}, WebhookSecret: "whsec_1",
	}); err != nil {
		fmt.Println(err)
		return
	}
	org, err := tenants.Organization(ctx, "acme")
	fmt.Println(org.Name, org.Entitled(callwright.EntitlementSIP), org.WebhookSecret, err)
	// Output: Acme true [redacted] <nil>
}
