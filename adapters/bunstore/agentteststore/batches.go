package agentteststore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agenttest"
)

type batchRow struct {
	bun.BaseModel `bun:"table:test_batches,alias:batch"`

	ID          string     `bun:"id,pk"`
	Org         string     `bun:"org"`
	Kind        string     `bun:"kind"`
	Trigger     string     `bun:"triggered_by"`
	Pathway     string     `bun:"pathway_id"`
	Persona     string     `bun:"persona_id"`
	Number      int        `bun:"pathway_number"`
	Hash        string     `bun:"hash"`
	Simulations int        `bun:"simulations"`
	Publish     bool       `bun:"publish"`
	State       string     `bun:"state"`
	Created     int        `bun:"created"`
	Passed      int        `bun:"passed"`
	Failed      int        `bun:"failed"`
	Erred       int        `bun:"erred"`
	Cancelled   int        `bun:"cancelled"`
	Cancel      bool       `bun:"cancel"`
	Reason      string     `bun:"reason"`
	CreatedAt   time.Time  `bun:"created_at"`
	EndedAt     *time.Time `bun:"ended_at"`
	Version     int64      `bun:"version"`  // its Revision
	Document    string     `bun:"document"` // sealed: batchJSON
}

func (db core) batchRow(b agenttest.Batch) (row batchRow, err error) {
	row = batchRow{
		ID: b.ID, Org: string(b.Org), Kind: string(b.Kind), Trigger: string(b.Trigger), Pathway: b.Pathway, Persona: b.Persona,
		Number: b.Version, Hash: b.Hash, Simulations: b.Simulations, Publish: b.Publish, State: string(b.State), Created: b.Created,
		Passed: b.Counts.Passed, Failed: b.Counts.Failed, Erred: b.Counts.Error, Cancelled: b.Counts.Cancelled, Cancel: b.Cancel,
		Reason: b.Reason, CreatedAt: sqldb.Stored(b.CreatedAt), EndedAt: orNull(b.EndedAt), Version: b.Revision,
	}
	row.Document, err = db.seal(purpose("test batch", row.Org, row.ID), batchJSON{b.Scenarios, b.Webhook, b.Flakes, b.Statistics})
	return row, err
}

func (db core) batch(r batchRow) (agenttest.Batch, error) {
	var document batchJSON
	err := db.unseal(purpose("test batch", r.Org, r.ID), r.Document, &document)
	return agenttest.Batch{
		ID: r.ID, Org: callwright.OrgID(r.Org), Kind: agenttest.Kind(r.Kind), Trigger: agenttest.Trigger(r.Trigger),
		Pathway: r.Pathway, Persona: r.Persona, Version: r.Number, Hash: r.Hash, Scenarios: document.Scenarios,
		Simulations: r.Simulations, Webhook: document.Webhook, Publish: r.Publish, State: agenttest.State(r.State),
		Created: r.Created, Counts: agenttest.Counts{Passed: r.Passed, Failed: r.Failed, Error: r.Erred, Cancelled: r.Cancelled},
		Cancel: r.Cancel, Reason: r.Reason, Flakes: document.Flakes, Statistics: document.Statistics,
		CreatedAt: r.CreatedAt.UTC(), EndedAt: orZero(r.EndedAt), Revision: r.Version,
	}, err
}

// InsertBatch adds a group.
func (s Store) InsertBatch(ctx context.Context, b agenttest.Batch) error {
	b.Revision = 1
	row, err := s.core().batchRow(b)
	if err != nil {
		return err
	}
	return s.core().Insert(ctx, row, &row)
}

// Batch returns one group.
func (s Store) Batch(ctx context.Context, org callwright.OrgID, id string) (agenttest.Batch, error) {
	var row batchRow
	err := s.core().Read(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		return sqldb.Absent("batch", idb.NewSelect().Model(&row).Where("id = ?", id).Where("org = ?", org).Scan(ctx))
	})
	if err != nil {
		return agenttest.Batch{}, err
	}
	return s.core().batch(row)
}

// UpdateBatch replaces a group.
func (s Store) UpdateBatch(ctx context.Context, b agenttest.Batch) error {
	row, err := s.core().batchRow(b)
	if err != nil {
		return err
	}
	return s.core().Write(ctx, []any{row}, func(ctx context.Context, idb bun.IDB) error {
		update := idb.NewUpdate().Model(&row).ExcludeColumn("id", "org").WherePK().Where("org = ?", b.Org)
		find := idb.NewSelect().Model((*batchRow)(nil)).Where("id = ?", b.ID).Where("org = ?", b.Org)
		return sqldb.Replace(ctx, "batch", update, b.Revision, find)
	})
}

// AddCounts adds to the counters of a group. The update locks its row until the transaction ends.
func (s Store) AddCounts(
	ctx context.Context, org callwright.OrgID, id string, more agenttest.Counts,
) (agenttest.Batch, error) {
	var row batchRow
	err := s.core().Write(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		row = batchRow{}
		return sqldb.Absent("batch", idb.NewUpdate().Model(&row).Set("passed = passed + ?", sqldb.Int(more.Passed)).
			Set("failed = failed + ?", sqldb.Int(more.Failed)).Set("erred = erred + ?", sqldb.Int(more.Error)).
			Set("cancelled = cancelled + ?", sqldb.Int(more.Cancelled)).Set("version = version + 1").
			Where("id = ?", id).Where("org = ?", org).Returning("*").Scan(ctx))
	})
	if err != nil {
		return agenttest.Batch{}, err
	}
	return s.core().batch(row)
}

// BatchesOf returns the newest batches of a version.
func (s Store) BatchesOf(
	ctx context.Context, org callwright.OrgID, pathway string, version, limit int,
) ([]agenttest.Batch, error) {
	if limit <= 0 {
		return nil, nil
	}
	var rows []batchRow
	err := s.core().Read(ctx, []any{org, pathway}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return idb.NewSelect().Model(&rows).Where("kind = 'batch'").Where("org = ?", org).Where("pathway_id = ?", pathway).
			Where("pathway_number = ?", sqldb.Int(version)).Order("created_at DESC", "id DESC").Limit(limit).Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	return sqldb.ConvertedAll(rows, s.core().batch)
}
