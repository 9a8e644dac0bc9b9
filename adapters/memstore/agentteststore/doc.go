// Package agentteststore stores scenarios, runs of tests and groups of runs in a memstore.Store.
package agentteststore

import (
	"context"
	"maps"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/scenario"
)

// data holds what the stores of this package store. Its values are never changed in place.
type data struct {
	scenarios map[string]scenario.Scenario
	snapshots map[string]agenttest.Snapshot
	runs      map[string]agenttest.Run
	answers   map[string]map[string][]byte // by run and key
	batches   map[string]agenttest.Batch
}

// New returns the data of an empty store.
func (data) New() data {
	return data{
		scenarios: map[string]scenario.Scenario{},
		snapshots: map[string]agenttest.Snapshot{},
		runs:      map[string]agenttest.Run{},
		answers:   map[string]map[string][]byte{},
		batches:   map[string]agenttest.Batch{},
	}
}

// Clone returns a copy, which a transaction that fails restores.
func (d data) Clone() data {
	return data{
		scenarios: maps.Clone(d.scenarios), snapshots: maps.Clone(d.snapshots), runs: maps.Clone(d.runs),
		answers: maps.Clone(d.answers), batches: maps.Clone(d.batches),
	}
}

// with calls f with the data, in the transaction of ctx or alone. f must not fail after its first change.
func with(ctx context.Context, s *memstore.Store, f func(d *data) error) error {
	return memory.With(ctx, s.Core(), f)
}

// Store is an agenttest.Store.
type Store struct{ Store *memstore.Store }

var _ agenttest.Store = Store{}
