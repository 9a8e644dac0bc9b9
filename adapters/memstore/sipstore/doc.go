// Package sipstore stores trunks, their status and registrations, the call log, discoveries, test calls and proofs of numbers of package
// sip in a memstore.Store.
package sipstore

import (
	"context"
	"maps"

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

// data holds the rows of the stores of this package. Its values are never changed in place.
type data struct {
	trunks        map[trunkKey]sip.Trunk
	statuses      map[string]leasedStatus // by trunk
	servers       map[serverKey]leasedServer
	deliveries    map[string]sip.Delivery
	drafts        map[string]setup.Draft
	registrations map[string]nodeRegistration // by trunk
	records       map[string]calllog.Record
	ladders       map[string][]ladder.Event // by the record's id
	discoveries   map[string]discovery.Discovery
	testCalls     map[string]testcall.Call
	proofs        map[string]proof.Proof
}

// New returns the data of an empty store.
func (data) New() data {
	return data{
		trunks:        map[trunkKey]sip.Trunk{},
		statuses:      map[string]leasedStatus{},
		servers:       map[serverKey]leasedServer{},
		deliveries:    map[string]sip.Delivery{},
		drafts:        map[string]setup.Draft{},
		registrations: map[string]nodeRegistration{},
		records:       map[string]calllog.Record{},
		ladders:       map[string][]ladder.Event{},
		discoveries:   map[string]discovery.Discovery{},
		testCalls:     map[string]testcall.Call{},
		proofs:        map[string]proof.Proof{},
	}
}

// Clone returns a copy, which a transaction that fails restores.
func (d data) Clone() data {
	return data{trunks: maps.Clone(d.trunks), statuses: maps.Clone(d.statuses), servers: maps.Clone(d.servers), deliveries: maps.Clone(d.deliveries), drafts: maps.Clone(d.drafts), registrations: maps.Clone(d.registrations), records: maps.Clone(d.records), ladders: maps.Clone(d.ladders), discoveries: maps.Clone(d.discoveries), testCalls: maps.Clone(d.testCalls), proofs: maps.Clone(d.proofs)}
}

// with calls f with the data, in the transaction of ctx or alone. f must not fail after its first change.
func with(ctx context.Context, s *memstore.Store, f func(d *data) error) error {
	return memory.With(ctx, s.Core(), f)
}
