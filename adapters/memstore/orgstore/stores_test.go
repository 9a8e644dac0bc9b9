package orgstore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/delivery"
)

// linked adds foreign key checks to Tenants, as a database may have them.
type linked struct{ orgstore.Tenants }

// InsertKey returns an error without a code if the key's organization is absent.
func (l linked) InsertKey(ctx context.Context, k callwright.APIKey) error {
	if _, err := l.Organization(ctx, k.Org); err != nil {
		return errors.New("the key violates a foreign key")
	}
	return l.Tenants.InsertKey(ctx, k)
}

// InsertSession returns an error without a code if the session's API key is absent.
func (l linked) InsertSession(ctx context.Context, s callwright.Session) error {
	if _, err := l.Key(ctx, s.Org, s.KeyID); err != nil {
		return errors.New("the session violates a foreign key")
	}
	return l.Tenants.InsertSession(ctx, s)
}

func TestTenantsWithForeignKeys(t *testing.T) {
	t.Parallel()
	callwrighttest.RunTenants(t, func(*testing.T) callwright.Tenants { return linked{orgstore.Tenants{Store: memstore.New()}} }, nil)
}

func TestStores(t *testing.T) {
	t.Parallel()
	callwrighttest.RunTenants(t, func(*testing.T) callwright.Tenants { return orgstore.Tenants{Store: memstore.New()} }, nil)
	callwrighttest.RunEndpointStore(t, func(*testing.T) delivery.EndpointStore { return orgstore.Endpoints{Store: memstore.New()} })
	callwrighttest.RunDeliveryStore(t, func(*testing.T) delivery.Store { return orgstore.Deliveries{Store: memstore.New()} })
	callwrighttest.RunIdempotencyStore(t, func(*testing.T) callwright.IdempotencyStore {
		return orgstore.IdempotencyStore{Store: memstore.New()}
	}, nil)
}
