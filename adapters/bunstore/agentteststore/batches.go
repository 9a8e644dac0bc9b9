package agentteststore

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
)

type batchRow struct {
	bun.BaseModel `bun:"table:test_batches,alias:batch"`

	ID          string `bun:"id,pk"`
	Org         string `bun:"org"`
	Kind        string `bun:"kind"`
	Trigger     string `bun:"triggered_by"`
	Pathway     string `bun:"pathway_id"`
	Persona     string `bun:"persona_id"`
	Number      int    `bun:"pathway_number"`
	Hash        string `bun:"hash"`
	Simulations int    `bun:"simulations"`
	Publish     bool   `bun:"publish"`
	MaxTokens   int    `bun:"max_tokens"`
	MaxCost     int64  `bun:"max_cost"`
	Concurrency int    `bun:"concurrency"`
	State       string `bun:"state"`
	Created     int    `bun:"created"`
	Total       int    `bun:"total"`
	Passed      int    `bun:"passed"`
	Failed      int    `bun:"failed"`
	Erred       int    `bun:"erred"`
	Cancelled   int    `bun:"cancelled"`
	CallerIn    int    `bun:"caller_in"`
	CallerOut   int    `bun:"caller_out"`
	AgentIn     int    `bun:"agent_in"`
	AgentOut    int    `bun:"agent_out"`
	JudgeIn     int    `bun:"judge_in"`
	JudgeOut    int    `bun:"judge_out"`

	CallerCached int `bun:"caller_cached"`
	AgentCached  int `bun:"agent_cached"`
	JudgeCached  int `bun:"judge_cached"`

	Tokens    int        `bun:"tokens"`
	Cost      int64      `bun:"cost"`
	Priced    int        `bun:"priced"`
	Unpriced  int        `bun:"unpriced"`
	Cancel    bool       `bun:"cancel"`
	Reason    string     `bun:"reason"`
	CreatedAt time.Time  `bun:"created_at"`
	EndedAt   *time.Time `bun:"ended_at"`
	Version   int64      `bun:"version"`  // group.Batch.Revision
	Document  string     `bun:"document"` // sealed batchJSON
}

func (db core) batchRow(b group.Batch) (row batchRow, err error) {
	row = batchRow{
		ID: b.ID, Org: string(b.Org), Kind: string(b.Kind), Trigger: string(b.Trigger), Pathway: b.Pathway, Persona: b.Persona,
		Number: b.Version, Hash: b.Hash, Simulations: b.Simulations, Publish: b.Publish, State: string(b.State), Created: b.Created,
		Total:     b.Total(),
		MaxTokens: b.Budget.Tokens, MaxCost: int64(b.Budget.Cost), Concurrency: b.Concurrency,
		Passed: b.Counts.Passed, Failed: b.Counts.Failed, Erred: b.Counts.Error, Cancelled: b.Counts.Cancelled, Cancel: b.Cancel,
		CallerIn: b.Usage.Caller.Input, CallerOut: b.Usage.Caller.Output, AgentIn: b.Usage.Agent.Input,
		AgentOut: b.Usage.Agent.Output, JudgeIn: b.Usage.Judge.Input, JudgeOut: b.Usage.Judge.Output, Tokens: b.Spend.Tokens,
		CallerCached: b.Usage.Caller.Cached, AgentCached: b.Usage.Agent.Cached, JudgeCached: b.Usage.Judge.Cached,
		Cost: int64(b.Spend.Cost), Priced: b.Spend.Priced, Unpriced: b.Spend.Unpriced,
		Reason: string(b.Reason), CreatedAt: sqldb.Stored(b.CreatedAt), EndedAt: orNull(b.EndedAt), Version: b.Revision,
	}
	row.Document, err = db.seal(purpose("test batch", row.Org, row.ID), batchJSON{b.Scenarios, b.Webhook, b.Over, b.Flakes, b.Statistics})
	return row, err
}

func (r batchRow) usage() (u engine.Usage) {
	u.Caller.Input, u.Caller.Output, u.Caller.Cached = r.CallerIn, r.CallerOut, r.CallerCached
	u.Agent.Input, u.Agent.Output, u.Agent.Cached = r.AgentIn, r.AgentOut, r.AgentCached
	u.Judge.Input, u.Judge.Output, u.Judge.Cached = r.JudgeIn, r.JudgeOut, r.JudgeCached
	return u
}

func (db core) batch(r batchRow) (group.Batch, error) {
	document, err := opened.document(db, r)
	return r.batch(document), err
}

// batch converts a row and its decrypted document to a batch.
func (r batchRow) batch(document batchJSON) group.Batch {
	return group.Batch{
		ID: r.ID, Org: callwright.OrgID(r.Org), Kind: group.Kind(r.Kind), Trigger: group.Trigger(r.Trigger),
		Pathway: r.Pathway, Persona: r.Persona, Version: r.Number, Hash: r.Hash, Scenarios: document.Scenarios,
		Simulations: r.Simulations, Webhook: document.Webhook, Over: document.Over, Publish: r.Publish, State: run.State(r.State),
		Created: r.Created, Counts: group.Counts{Passed: r.Passed, Failed: r.Failed, Error: r.Erred, Cancelled: r.Cancelled},
		Budget: engine.Limit{Tokens: r.MaxTokens, Cost: engine.Money(r.MaxCost)}, Concurrency: r.Concurrency,
		Usage:  r.usage(),
		Spend:  engine.Spend{Tokens: r.Tokens, Cost: engine.Money(r.Cost), Priced: r.Priced, Unpriced: r.Unpriced},
		Cancel: r.Cancel, Reason: group.StopReason(r.Reason), Flakes: document.Flakes, Statistics: document.Statistics,
		CreatedAt: r.CreatedAt.UTC(), EndedAt: orZero(r.EndedAt), Revision: r.Version,
	}
}

// The limits of the cache of decrypted documents.
const (
	maxOpened     = 16
	maxOpenedSize = 128 << 10 // bytes of a cached document in its sealed form
)

// documents caches the decrypted documents of active batches, by their sealed form. Each run reads its batch several times, and decrypting
// and decoding a batch of 100 scenarios takes longer than all other work on it.
type documents struct {
	mu   sync.Mutex
	kept map[[2]string]batchJSON // by purpose and sealed document
}

var opened documents

// document returns the decrypted document of a batch, from the cache if possible. It caches neither large documents nor documents of
// finished batches.
func (d *documents) document(db core, r batchRow) (document batchJSON, err error) {
	key := [2]string{purpose("test batch", r.Org, r.ID), r.Document}
	d.mu.Lock()
	document, known := d.kept[key]
	d.mu.Unlock()
	if known {
		document.Scenarios = slices.Clone(document.Scenarios)
		return document, nil
	}
	if err := db.unseal(key[0], r.Document, &document); err != nil {
		return document, err
	}
	if len(r.Document) > maxOpenedSize || document.Flakes != nil || document.Statistics != nil {
		return document, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kept == nil || len(d.kept) >= maxOpened {
		d.kept = map[[2]string]batchJSON{}
	}
	kept := document
	kept.Scenarios = slices.Clone(document.Scenarios)
	d.kept[key] = kept
	return document, nil
}

func (s Store) batches() sqldb.Rows[group.Batch, batchRow] {
	return sqldb.Rows[group.Batch, batchRow]{
		DB: s.DB.Core(), Kind: "batch", Row: s.core().batchRow, Value: s.core().batch, Fixed: []string{"id", "org"}, Sealed: true,
	}
}

// InsertBatch adds a batch. It returns CodeConflict if the id exists.
func (s Store) InsertBatch(ctx context.Context, b group.Batch) error {
	return s.batches().Insert(ctx, b)
}

// Batch returns one batch, or CodeNotFound if it is absent.
func (s Store) Batch(ctx context.Context, org callwright.OrgID, id string) (group.Batch, error) {
	return s.batches().Find(ctx, org, id)
}

// UpdateBatch replaces a batch. It returns CodeConflict if the stored revision is not b.Revision, and CodeNotFound if the batch is absent.
func (s Store) UpdateBatch(ctx context.Context, b group.Batch) error {
	return s.batches().Replace(ctx, b)
}

// AddCounts adds the given sums to the sums of a batch and returns the updated batch, or CodeNotFound if it is absent. The update
// increments the batch's revision, and locks its row until the transaction finishes.
func (s Store) AddCounts(
	ctx context.Context, org callwright.OrgID, id string, more group.Sums,
) (group.Batch, error) {
	var row batchRow
	err := s.core().Write(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		row = batchRow{}
		update := idb.NewUpdate().Model(&row).Set("version = version + 1")
		for _, a := range additions(more) {
			update = update.Set("? = ? + ?", bun.Ident(a.column), bun.Ident(a.column), sqldb.Int(a.more))
		}
		return sqldb.Absent("batch", update.Where("id = ?", id).Where("org = ?", org).Returning("*").Scan(ctx))
	})
	if err != nil {
		return group.Batch{}, err
	}
	return s.core().batch(row)
}

type addition struct {
	column string
	more   int
}

// additions returns the columns of a batch that hold sums, and the amount to add to each.
func additions(s group.Sums) []addition {
	return []addition{
		{"passed", s.Counts.Passed}, {"failed", s.Counts.Failed}, {"erred", s.Counts.Error}, {"cancelled", s.Counts.Cancelled},
		{"caller_in", s.Usage.Caller.Input}, {"caller_out", s.Usage.Caller.Output},
		{"agent_in", s.Usage.Agent.Input}, {"agent_out", s.Usage.Agent.Output},
		{"judge_in", s.Usage.Judge.Input}, {"judge_out", s.Usage.Judge.Output},
		{"caller_cached", s.Usage.Caller.Cached}, {"agent_cached", s.Usage.Agent.Cached}, {"judge_cached", s.Usage.Judge.Cached},
		{"tokens", s.Spend.Tokens}, {"cost", int(s.Spend.Cost)}, {"priced", s.Spend.Priced}, {"unpriced", s.Spend.Unpriced},
	}
}

// FindBatches returns a page of batches, newest first. It does not read their documents.
func (s Store) FindBatches(ctx context.Context, org callwright.OrgID, f group.Filter) ([]group.Listed, error) {
	if f.Limit <= 0 {
		return nil, nil
	}
	var rows []batchRow
	err := s.core().Read(ctx, []any{org, f}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return matching(idb.NewSelect().Model(&rows).ExcludeColumn("document"), org, f).
			Order("created_at DESC", "id DESC").Offset(int64(f.Offset)).Limit(int64(f.Limit)).Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	return sqldb.Converted(rows, func(r batchRow) group.Listed {
		return group.Listed{Batch: r.batch(batchJSON{}), Tested: r.Total / max(r.Simulations, 1)}
	}), nil
}

// CountBatches returns the number of batches that match the filter, on all pages.
func (s Store) CountBatches(ctx context.Context, org callwright.OrgID, f group.Filter) (count int, err error) {
	err = s.core().Read(ctx, []any{org, f}, func(ctx context.Context, idb bun.IDB) (err error) {
		count, err = sqldb.Count(ctx, matching(idb.NewSelect().Model((*batchRow)(nil)), org, f))
		return err
	})
	return count, err
}

// matching restricts a query to the batches of an organization that match the filter, on all pages.
func matching(q *bun.SelectQuery, org callwright.OrgID, f group.Filter) *bun.SelectQuery {
	q = q.Where("org = ?", org).Where("kind = ?", f.Kind)
	if f.Pathway != "" {
		q = q.Where("pathway_id = ?", f.Pathway)
	}
	if f.Persona != "" {
		q = q.Where("persona_id = ?", f.Persona).Where(ofOne)
	}
	if f.State != "" {
		q = q.Where("state = ?", f.State)
	}
	if f.Trigger != "" {
		q = q.Where("triggered_by = ?", f.Trigger)
	}
	return q
}

// BatchesOf returns the newest batches of a pathway's version, at most limit, without batches that tornado sessions started.
func (s Store) BatchesOf(
	ctx context.Context, org callwright.OrgID, pathway string, version, limit int,
) ([]group.Batch, error) {
	if limit <= 0 {
		return nil, nil
	}
	return s.batches().Select(ctx, []any{org, pathway}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("kind = 'batch'").Where("triggered_by <> 'tornado'").Where("org = ?", org).Where("pathway_id = ?", pathway).
			Where("pathway_number = ?", sqldb.Int(version)).Order("created_at DESC", "id DESC").Limit(int64(limit))
	})
}
