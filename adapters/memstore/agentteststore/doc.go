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
	runs      *memory.Table[string, *run.Run]          // searches look at many, and copy few
	pending   *memory.Table[string, callwright.OrgID]  // of runs, by id
	running   *memory.Table[string, callwright.OrgID]  // of runs, by id
	trials    *memory.Table[trial, string]             // ids of the runs of groups
	answers   *memory.Table[string, map[string][]byte] // by run and key
	batches   *memory.Rows[string, group.Batch]
	sessions  *memory.Rows[string, tornado.Session]
	steps     *memory.Table[string, map[int]tornado.Step] // by session and number
}

// trial holds the fields of a run that belongs to a group.
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

// with calls f with the data, in the transaction of ctx or alone. f must not fail after its first change.
func with(ctx context.Context, s *memstore.Store, f func(d *data) error) error {
	return memory.With(ctx, s.Core(), f)
}

// read returns the result of f on the data, in the transaction of ctx or alone.
func read[V any](ctx context.Context, s *memstore.Store, f func(d *data) (V, error)) (V, error) {
	return memory.Read(ctx, s.Core(), f)
}

// Store is an agenttest.Store.
type Store struct{ Store *memstore.Store }

var _ agenttest.Store = Store{}
