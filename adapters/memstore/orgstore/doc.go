// Package orgstore stores organizations, API keys, sessions, the answers to requests with an idempotency key and the
// deliveries of webhooks in a memstore.Store.
package orgstore

import (
	"context"
	"maps"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/delivery"
)

// data holds the rows of the stores of this package. Its values are never changed in place.
type data struct {
	orgs     map[callwright.OrgID]callwright.Organization
	keys     map[string]callwright.APIKey  // by prefix
	sessions map[string]callwright.Session // by id
	answers  map[answerKey]answer

	deliveries map[deliveryKey]delivery.Delivery
	endpoints  map[endpointKey]delivery.Endpoint
}

// New returns the data of an empty store.
func (data) New() data {
	return data{
		orgs:     map[callwright.OrgID]callwright.Organization{},
		keys:     map[string]callwright.APIKey{},
		sessions: map[string]callwright.Session{},
		answers:  map[answerKey]answer{},

		deliveries: map[deliveryKey]delivery.Delivery{},
		endpoints:  map[endpointKey]delivery.Endpoint{},
	}
}

// Clone returns a copy, which a transaction that fails restores.
func (d data) Clone() data {
	return data{
		orgs: maps.Clone(d.orgs), keys: maps.Clone(d.keys), sessions: maps.Clone(d.sessions), answers: maps.Clone(d.answers),
		deliveries: maps.Clone(d.deliveries), endpoints: maps.Clone(d.endpoints),
	}
}

// with calls f with the data, in the transaction of ctx or alone. f must not fail after its first change.
func with(ctx context.Context, s *memstore.Store, f func(d *data) error) error {
	return memory.With(ctx, s.Core(), f)
}
