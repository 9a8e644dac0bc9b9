package orgstore_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/delivery"
)

func TestStores(t *testing.T) {
	t.Parallel()
	callwrighttest.RunTenants(t, func(*testing.T) callwright.Tenants { return orgstore.Tenants{Store: memstore.New()} }, nil)
	callwrighttest.RunEndpointStore(t, func(*testing.T) delivery.EndpointStore { return orgstore.Endpoints{Store: memstore.New()} })
	callwrighttest.RunDeliveryStore(t, func(*testing.T) delivery.Store { return orgstore.Deliveries{Store: memstore.New()} })
	callwrighttest.RunIdempotencyStore(t, func(*testing.T) callwright.IdempotencyStore {
		return orgstore.IdempotencyStore{Store: memstore.New()}
	}, nil)
}
