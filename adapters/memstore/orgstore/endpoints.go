package orgstore

import (
	"cmp"
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/delivery"
)

type endpointKey struct {
	org  callwright.OrgID
	host string
}

// Endpoints implements delivery.EndpointStore in memory.
type Endpoints struct{ Store *memstore.Store }

// Endpoint returns the state of a webhook host, or CodeNotFound if the organization has none stored.
func (s Endpoints) Endpoint(ctx context.Context, org callwright.OrgID, host string) (delivery.Endpoint, error) {
	return read(ctx, s.Store, func(all *data) (delivery.Endpoint, error) { return all.endpoints.Find(org, endpointKey{org, host}) })
}

// StoreEndpoint adds an endpoint whose Version is 0, and replaces an endpoint with any other Version. It returns CodeConflict if the
// endpoint to add is already stored, or if the endpoint to replace is absent or has another Version.
func (s Endpoints) StoreEndpoint(ctx context.Context, e delivery.Endpoint) error {
	return with(ctx, s.Store, func(all *data) error {
		switch _, known := all.endpoints.Rows()[endpointKey{e.Org, e.Host}]; {
		case e.Version == 0:
			return all.endpoints.Insert(e)
		case !known:
			return callwright.ErrConflict
		}
		return all.endpoints.Replace(e)
	})
}

// DeleteEndpoint deletes an endpoint. It returns no error if the endpoint is absent.
func (s Endpoints) DeleteEndpoint(ctx context.Context, org callwright.OrgID, host string) error {
	return with(ctx, s.Store, func(all *data) error { return all.endpoints.Delete(org, endpointKey{org, host}) })
}

// PausedEndpoints returns up to limit paused endpoints of an organization, sorted by host. A limit below 1 counts as 1.
func (s Endpoints) PausedEndpoints(ctx context.Context, org callwright.OrgID, limit int) ([]delivery.Endpoint, error) {
	return read(ctx, s.Store, func(all *data) ([]delivery.Endpoint, error) {
		byHost := func(a, b delivery.Endpoint) int { return cmp.Compare(a.Host, b.Host) }
		return all.endpoints.Select(max(limit, 1), byHost, func(e delivery.Endpoint) bool { return e.Org == org && e.PausedAt != nil }), nil
	})
}
