package orgstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/delivery"
)

func TestStores(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		callwrighttest.RunTenants(t, func(t *testing.T) callwright.Tenants { return orgstore.Tenants{DB: open(t)} },
			func(t *testing.T, s callwright.Tenants) []byte { return storetest.AtRest(t, s.(orgstore.Tenants).DB) }) //nolint:forcetypeassert // it is ours
		callwrighttest.RunEndpointStore(t, func(t *testing.T) delivery.EndpointStore { return orgstore.Endpoints{DB: open(t)} })
		callwrighttest.RunDeliveryStore(t, func(t *testing.T) delivery.Store { return orgstore.Deliveries{DB: open(t)} })
		callwrighttest.RunIdempotencyStore(t, func(t *testing.T) callwright.IdempotencyStore {
			return orgstore.IdempotencyStore{DB: open(t)}
		}, func(t *testing.T, s callwright.IdempotencyStore) []byte {
			return storetest.AtRest(t, s.(orgstore.IdempotencyStore).DB) //nolint:forcetypeassert // it is ours
		})
	})
}

// TestEveryStatementUsesAnIndex runs every query of the stores and fails if a query scans a whole table.
func TestEveryStatementUsesAnIndex(t *testing.T) {
	t.Parallel()
	storetest.UsesIndexes(t, useAll)
}

// useAll calls every method that queries rows, and returns their errors.
func useAll(ctx context.Context, db *bunstore.DB, now time.Time) []error {
	const org = callwright.OrgID("o")
	tenants, answers, deliveries := orgstore.Tenants{DB: db}, orgstore.IdempotencyStore{DB: db}, orgstore.Deliveries{DB: db}
	_, orgErr := tenants.Organization(ctx, org)
	_, _, keyErr := tenants.KeyByPrefix(ctx, "p")
	_, heldErr := tenants.HoldOrganization(ctx, org)
	_, ownErr := tenants.Key(ctx, org, "k")
	_, namesErr := tenants.KeyNames(ctx, org, []string{"k", "l"})
	_, countErr := tenants.CountKeys(ctx, org, now)
	page := func(after callwright.Keyset) error {
		_, err := tenants.Organizations(ctx, after, 10)
		_, keysErr := tenants.Keys(ctx, org, after, 10)
		_, sessionsErr := tenants.Sessions(ctx, org, now, time.Hour, after, 10)
		_, allErr := deliveries.Deliveries(ctx, org, "", now, after, 10)
		_, pendingErr := deliveries.Deliveries(ctx, org, delivery.Pending, now, after, 10)
		return errors.Join(err, keysErr, sessionsErr, allErr, pendingErr)
	}
	_, sessionErr := tenants.SessionByHash(ctx, []byte{1})
	_, sweepErr := tenants.DeleteSessions(ctx, now, 10)
	endpoints := orgstore.Endpoints{DB: db}
	_, endpointErr := endpoints.Endpoint(ctx, org, "h")
	_, pausedErr := endpoints.PausedEndpoints(ctx, org, 10)
	_, _, findErr := answers.Find(ctx, org, "k", now)
	return []error{
		orgErr, keyErr, heldErr, ownErr, namesErr, countErr, page(callwright.Keyset{}), page(callwright.Keyset{At: now, ID: "i"}),
		tenants.ReplaceKey(ctx, org, "k", "l", now), tenants.TouchKey(ctx, "k", now, time.Minute), tenants.RevokeKey(ctx, org, "k", now), findErr,
		sessionErr, sweepErr, tenants.TouchSession(ctx, "s", now, time.Minute), tenants.DeleteSession(ctx, org, "s"), tenants.TrimSessions(ctx, "k", 1),
		tenants.UpdateOrganization(ctx, callwright.Organization{ID: org}),
		answers.StoreAnswer(ctx, org, "k", nil, nil, now, now),
		deliveries.StoreDelivery(ctx, delivery.Delivery{Org: org, ID: "d", State: delivery.Pending, Since: now}, now),
		deliveries.FinishDelivery(ctx, delivery.Delivery{Org: org, ID: "d"}),
		endpointErr, pausedErr, endpoints.DeleteEndpoint(ctx, org, "h"), endpoints.StoreEndpoint(ctx, delivery.Endpoint{Org: org, Host: "h", Version: 1}),
	}
}

func TestMain(m *testing.M) { storetest.Main(m) }
