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
	*memory.Tables
	scenarios *memory.Rows[string, scenario.Scenario]
	snapshots *memory.Table[string, run.Snapshot]
	runs      *memory.Table[string, *run.Run]          // pointers, because searches examine many runs and copy few
	pending   *memory.Table[string, callwright.OrgID]  // organizations of pending runs, by run id
	running   *memory.Table[string, callwright.OrgID]  // organizations of running runs, by run id
	trials    *memory.Table[trial, string]             // ids of the runs that belong to a group
	answers   *memory.Table[string, map[string][]byte] // journals by run, then by key
	batches   *memory.Rows[string, group.Batch]
	sessions  *memory.Rows[string, tornado.Session]
	steps     *memory.Table[string, map[int]tornado.Step] // by session, then by step number
}

// trial identifies a run within its group: a group contains at most one run with the same scenario and number.
type trial struct {
	batch, scenario string
	number          int
}

// New returns the data of an empty store.
func (data) New() data {
	t := &memory.Tables{}
	return data{
		Tables:    t,
		scenarios: memory.NewRows(t, "scenario", func(s *scenario.Scenario) (callwright.OrgID, string, *int64) { return s.Org, s.ID, &s.Revision }),
		snapshots: memory.NewTable[string, run.Snapshot](t),
		runs:      memory.NewTable[string, *run.Run](t),
		pending:   memory.NewTable[string, callwright.OrgID](t),
		running:   memory.NewTable[string, callwright.OrgID](t),
		trials:    memory.NewTable[trial, string](t),
		answers:   memory.NewTable[string, map[string][]byte](t),
		batches:   memory.NewRows(t, "batch", func(b *group.Batch) (callwright.OrgID, string, *int64) { return b.Org, b.ID, &b.Revision }),
		sessions:  memory.NewRows(t, "session", func(n *tornado.Session) (callwright.OrgID, string, *int64) { return n.Org, n.ID, &n.Revision }),
		steps:     memory.NewTable[string, map[int]tornado.Step](t),
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

// Store implements agenttest.Store in memory.
type Store struct{ Store *memstore.Store }

var _ agenttest.Store = Store{}
