// Package sipstore stores the data of package sip and its sub-packages in a memstore.Store: trunks with their status, registrations and
// unfinished setups, the call log, discoveries, test calls, proofs of numbers and the deliveries of alerts.
package sipstore

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/proof"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/testcall"
)

// data holds the rows of the stores of this package.
type data struct {
	*memory.Tables
	trunks        *memory.Rows[trunkKey, sip.Trunk]
	statuses      *memory.Table[string, leasedStatus] // by trunk id
	servers       *memory.Table[serverKey, leasedServer]
	deliveries    *memory.Rows[string, sip.Delivery]
	drafts        *memory.Rows[string, setup.Draft]
	registrations *memory.Rows[string, nodeRegistration] // by trunk id
	records       *memory.Rows[string, calllog.Record]
	ladders       *memory.Table[string, []ladder.Event] // by record id
	discoveries   *memory.Rows[string, discovery.Discovery]
	testCalls     *memory.Rows[string, testcall.Call]
	proofs        *memory.Rows[string, proof.Proof]
}

// New returns the data of an empty store.
func (data) New() data {
	t := &memory.Tables{}
	return data{
		Tables: t,
		trunks: memory.NewRows(t, "trunk", func(tr *sip.Trunk) (callwright.OrgID, trunkKey, *int64) {
			return tr.Org, trunkKey{tr.Number, tr.Direction}, &tr.Version
		}),
		statuses:   memory.NewTable[string, leasedStatus](t),
		servers:    memory.NewTable[serverKey, leasedServer](t),
		deliveries: memory.NewRows(t, "delivery", func(d *sip.Delivery) (callwright.OrgID, string, *int64) { return d.Org, d.ID, nil }),
		drafts:     memory.NewRows(t, "set-up", func(d *setup.Draft) (callwright.OrgID, string, *int64) { return d.Org, d.ID, &d.Version }),
		registrations: memory.NewRows(t, "registration", func(r *nodeRegistration) (callwright.OrgID, string, *int64) {
			return r.Org, r.TrunkID, &r.Version
		}),
		records: memory.NewRows(t, "call", func(r *calllog.Record) (callwright.OrgID, string, *int64) { return r.Org, r.ID, nil }),
		ladders: memory.NewTable[string, []ladder.Event](t),
		discoveries: memory.NewRows(t, "discovery", func(d *discovery.Discovery) (callwright.OrgID, string, *int64) {
			return d.Org, d.ID, &d.Version
		}),
		testCalls: memory.NewRows(t, "test call", func(c *testcall.Call) (callwright.OrgID, string, *int64) { return c.Org, c.ID, &c.Version }),
		proofs:    memory.NewRows(t, "proof", func(p *proof.Proof) (callwright.OrgID, string, *int64) { return p.Org, p.ID, &p.Version }),
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
