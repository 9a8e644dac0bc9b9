package setup_test

import (
	"context"
	"fmt"
	"log"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip/setup"
)

func Example() {
	ctx, tenants := context.Background(), orgstore.Tenants{Store: memstore.New()}
	if err := tenants.InsertOrganization(ctx, callwright.Organization{ID: "acme"}); err != nil {
		log.Fatal(err)
	}
	store := memstore.New()
	drafts, work := sipstore.Drafts{Store: store}, memstore.NewWork(store, nil)
	s, err := setup.New(setup.Config{Trunks: trunks{}, Organizations: tenants, Drafts: drafts, Work: work, Regions: []setup.Region{{
		Name: "home", Addresses: []string{"192.0.2.10"}, Host: "sip.example.com", Port: 5061, RTPLow: 10000, RTPHigh: 20000,
	}}})
	if err != nil {
		log.Fatal(err)
	}
	region, err := s.Firewall(ctx, "acme")
	fmt.Println(region.Addresses, region.Port, err)
	out, err := s.OutboundSetup(ctx, "acme", "")
	fmt.Println(out.Host, out.Port, err)
	// Output:
	// [192.0.2.10] 5061 <nil>
	// sip.example.com 5061 <nil>
}
