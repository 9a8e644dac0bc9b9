// Package agentteststore stores scenarios, runs of tests, groups of runs and tornado sessions in a memstore.Store.
package agentteststore

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/tornado"
)

// data holds the rows of the stores of this package. Its values are never changed in place.
type data struct {
	scenarios *memory.Table[string, scenario.Scenario]
	snapshots *memory.Table[string, run.Snapshot]
	runs      *memory.Table[string, *run.Run]          // searches look at many, and copy few
	pending   *memory.Table[string, callwright.OrgID]  // of runs, by id
	running   *memory.Table[string, callwright.OrgID]  // of runs, by id
	trials    *memory.Table[trial, string]             // ids of the runs of groups
	answers   *memory.Table[string, map[string][]byte] // by run and key
	batches   *memory.Table[string, group.Batch]
	sessions  *memory.Table[string, tornado.Session]
	steps     *memory.Table[string, map[int]tornado.Step] // by session and number
}

// trial holds the fields of a run that belongs to a group.
type trial struct {
	batch, scenario string
	number          int
}

// New returns the data of an empty store.
func (data) New() data {
	return data{
		scenarios: memory.NewTable[string, scenario.Scenario](),
		snapshots: memory.NewTable[string, run.Snapshot](),
		runs:      memory.NewTable[string, *run.Run](),
		pending:   memory.NewTable[string, callwright.OrgID](),
		running:   memory.NewTable[string, callwright.OrgID](),
		trials:    memory.NewTable[trial, string](),
		answers:   memory.NewTable[string, map[string][]byte](),
		batches:   memory.NewTable[string, group.Batch](),
		sessions:  memory.NewTable[string, tornado.Session](),
		steps:     memory.NewTable[string, map[int]tornado.Step](),
	}
}

// tables returns all tables.
func (d data) tables() []table {
	return []table{d.scenarios, d.snapshots, d.runs, d.pending, d.running, d.trials, d.answers, d.batches, d.sessions, d.steps}
}

// table is a memory.Table of any rows.
type table interface {
	Begin()
	Undo()
}

// Clone begins a transaction: the tables record its changes.
func (d data) Clone() data {
	for _, t := range d.tables() {
		t.Begin()
	}
	return d
}

// Undo reverses the changes since Clone.
func (d data) Undo() {
	for _, t := range d.tables() {
		t.Undo()
	}
}

// with calls f with the data, in the transaction of ctx or alone. f must not fail after its first change.
func with(ctx context.Context, s *memstore.Store, f func(d *data) error) error {
	return memory.With(ctx, s.Core(), f)
}

// Store is an agenttest.Store.
type Store struct{ Store *memstore.Store }

var _ agenttest.Store = Store{}
