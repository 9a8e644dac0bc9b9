// Package agentteststore stores scenarios, runs of tests and groups of runs in a memstore.Store.
package agentteststore

import (
	"context"
	"maps"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/scenario"
)

// data holds what the stores of this package store. Its values are never changed in place.
type data struct {
	scenarios map[string]scenario.Scenario
	snapshots map[string]agenttest.Snapshot
	batches   map[string]agenttest.Batch

	runs    *memory.Table[string, agenttest.Run]
	pending *memory.Table[string, callwright.OrgID]  // of runs, by id
	running *memory.Table[string, callwright.OrgID]  // of runs, by id
	trials  *memory.Table[trial, string]             // ids of the runs of groups
	answers *memory.Table[string, map[string][]byte] // by run and key
}

// trial is what a run of a group has for itself.
type trial struct {
	batch, scenario string
	number          int
}

// New returns the data of an empty store.
func (data) New() data {
	return data{
		scenarios: map[string]scenario.Scenario{},
		snapshots: map[string]agenttest.Snapshot{},
		batches:   map[string]agenttest.Batch{},
		runs:      memory.NewTable[string, agenttest.Run](),
		pending:   memory.NewTable[string, callwright.OrgID](),
		running:   memory.NewTable[string, callwright.OrgID](),
		trials:    memory.NewTable[trial, string](),
		answers:   memory.NewTable[string, map[string][]byte](),
	}
}

// Clone returns a copy, which a transaction that fails restores.
func (d data) Clone() data {
	d.runs.Begin()
	d.pending.Begin()
	d.running.Begin()
	d.trials.Begin()
	d.answers.Begin()
	d.scenarios, d.snapshots, d.batches = maps.Clone(d.scenarios), maps.Clone(d.snapshots), maps.Clone(d.batches)
	return d
}

// Undo undoes what was changed since Clone.
func (d data) Undo() {
	d.runs.Undo()
	d.pending.Undo()
	d.running.Undo()
	d.trials.Undo()
	d.answers.Undo()
}

// with calls f with the data, in the transaction of ctx or alone. f must not fail after its first change.
func with(ctx context.Context, s *memstore.Store, f func(d *data) error) error {
	return memory.With(ctx, s.Core(), f)
}

// Store is an agenttest.Store.
type Store struct{ Store *memstore.Store }

var _ agenttest.Store = Store{}
