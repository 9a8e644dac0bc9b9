package orgstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/delivery"
)

type endpointKey struct {
	org  callwright.OrgID
	host string
}

// Endpoints is a delivery.EndpointStore.
type Endpoints struct{ Store *memstore.Store }

// Endpoint returns an endpoint.
func (s Endpoints) Endpoint(ctx context.Context, org callwright.OrgID, host string) (e delivery.Endpoint, err error) {
	err = with(ctx, s.Store, func(all *data) error {
		found, ok := all.endpoints[endpointKey{org, host}]
		if !ok {
			return callwright.NotFound("endpoint")
		}
		e = memory.Clone(found)
		return nil
	})
	return e, err
}

// StoreEndpoint adds or replaces an endpoint.
func (s Endpoints) StoreEndpoint(ctx context.Context, e delivery.Endpoint) error {
	return with(ctx, s.Store, func(all *data) error {
		key := endpointKey{e.Org, e.Host}
		if all.endpoints[key].Version != e.Version {
			return callwright.ErrConflict
		}
		e := memory.Clone(e)
		e.Version++
		all.endpoints[key] = e
		return nil
	})
}

// DeleteEndpoint deletes an endpoint.
func (s Endpoints) DeleteEndpoint(ctx context.Context, org callwright.OrgID, host string) error {
	return with(ctx, s.Store, func(all *data) error {
		delete(all.endpoints, endpointKey{org, host})
		return nil
	})
}

// PausedEndpoints returns the endpoints of an organization that are paused.
func (s Endpoints) PausedEndpoints(ctx context.Context, org callwright.OrgID, limit int) (found []delivery.Endpoint, err error) {
	err = with(ctx, s.Store, func(all *data) error {
		for _, e := range all.endpoints {
			if e.Org == org && e.PausedAt != nil {
				found = append(found, memory.Clone(e))
			}
		}
		slices.SortFunc(found, func(a, b delivery.Endpoint) int { return cmp.Compare(a.Host, b.Host) })
		found = found[:min(len(found), max(limit, 1))]
		return nil
	})
	return found, err
}
