// Package orgstore stores organizations, API keys, sessions, answers by idempotency key, and the deliveries and endpoints of webhooks in a
// memstore.Store.
package orgstore

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/delivery"
)

// data holds the rows of the stores of this package.
type data struct {
	*memory.Tables
	orgs     *memory.Rows[callwright.OrgID, callwright.Organization] // stored under the empty OrgID
	keys     *memory.Rows[string, callwright.APIKey]                 // by id
	sessions *memory.Rows[string, callwright.Session]                // by id
	answers  *memory.Table[answerKey, answer]

	deliveries *memory.Table[deliveryKey, delivery.Delivery]
	endpoints  *memory.Rows[endpointKey, delivery.Endpoint]
}

// New returns the data of an empty store.
func (data) New() data {
	t := &memory.Tables{}
	return data{
		Tables: t,
		orgs: memory.NewRows(t, "organization", func(o *callwright.Organization) (callwright.OrgID, callwright.OrgID, *int64) {
			return "", o.ID, nil
		}),
		keys:     memory.NewRows(t, "API key", func(k *callwright.APIKey) (callwright.OrgID, string, *int64) { return k.Org, k.ID, nil }),
		sessions: memory.NewRows(t, "session", func(s *callwright.Session) (callwright.OrgID, string, *int64) { return s.Org, s.ID, nil }),
		answers:  memory.NewTable[answerKey, answer](t),

		deliveries: memory.NewTable[deliveryKey, delivery.Delivery](t),
		endpoints: memory.NewRows(t, "endpoint", func(e *delivery.Endpoint) (callwright.OrgID, endpointKey, *int64) {
			return e.Org, endpointKey{e.Org, e.Host}, &e.Version
		}),
	}
}

// with passes the data to f, in the transaction of ctx if it carries one. f must not fail after its first change, because only a failed
// transaction undoes changes.
func with(ctx context.Context, s *memstore.Store, f func(d *data) error) error {
	return memory.With(ctx, s.Core(), f)
}

// read returns the result of f on the data. It reads in the transaction of ctx if ctx carries one.
func read[V any](ctx context.Context, s *memstore.Store, f func(d *data) (V, error)) (V, error) {
	return memory.Read(ctx, s.Core(), f)
}
