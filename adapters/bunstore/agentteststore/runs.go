package agentteststore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/run"
)

type runRow struct {
	bun.BaseModel `bun:"table:test_runs,alias:run"`

	ID         string     `bun:"id,pk"`
	Org        string     `bun:"org"`
	Scenario   string     `bun:"scenario_id"`
	Name       string     `bun:"name"`
	Pathway    string     `bun:"pathway_id"`
	Persona    string     `bun:"persona_id"`
	Number     int        `bun:"pathway_number"`
	Batch      string     `bun:"batch_id"`
	Trial      int        `bun:"trial"`
	Snapshot   string     `bun:"snapshot_id"`
	Scripted   bool       `bun:"scripted"`
	Experiment bool       `bun:"experiment"`
	State      string     `bun:"state"`
	Node       string     `bun:"node"`
	Attempt    int        `bun:"attempt"`
	Cancel     bool       `bun:"cancel"`
	MaxTokens  int        `bun:"max_tokens"`
	MaxCost    int64      `bun:"max_cost"`
	CreatedAt  time.Time  `bun:"created_at"`
	StartedAt  *time.Time `bun:"started_at"`
	EndedAt    *time.Time `bun:"ended_at"`
	Version    int64      `bun:"version"` // run.Run.Revision
	Webhook    string     `bun:"webhook"` // sealed URL
	Result     string     `bun:"result"`  // sealed run.Result
	Outcome    string     `bun:"outcome"` // sealed outcomeJSON
	Summary    string     `bun:"summary"` // analytics.Summary
}

// changing lists the columns that UpdateRuns writes.
var changing = []string{
	"scripted", "state", "node", "attempt", "started_at", "ended_at", "version", "result", "outcome",
	"summary",
}

func (db core) runRow(r run.Run) (row runRow, err error) {
	org := string(r.Org)
	row = runRow{
		ID: r.ID, Org: org, Scenario: r.Scenario, Name: r.Name, Pathway: r.Pathway, Persona: r.Persona, Number: r.Version,
		Batch: r.Batch, Trial: r.Trial, Snapshot: r.Snapshot, Scripted: r.Scripted, Experiment: r.Experiment, State: string(r.State), Node: r.Node,
		Attempt: r.Attempt, Cancel: r.Cancel, MaxTokens: r.Budget.Tokens, MaxCost: int64(r.Budget.Cost), CreatedAt: sqldb.Stored(r.CreatedAt), StartedAt: orNull(r.StartedAt),
		EndedAt: orNull(r.EndedAt), Version: r.Revision, Summary: string(r.Summary),
		Webhook: db.Keyring.Seal(purpose("webhook of test run", org, r.ID), callwright.Secret(r.Webhook)),
	}
	if !r.Result.IsZero() {
		if row.Result, err = db.seal(purpose("result of test run", org, r.ID), r.Result); err != nil {
			return row, err
		}
	}
	if r.Outcome != nil {
		row.Outcome, err = db.seal(purpose("outcome of test run", org, r.ID), newOutcomeJSON(*r.Outcome))
	}
	return row, err
}

func (db core) run(row runRow) (run.Run, error) {
	r := run.Run{
		ID: row.ID, Org: callwright.OrgID(row.Org), Scenario: row.Scenario, Name: row.Name, Pathway: row.Pathway,
		Persona: row.Persona, Version: row.Number, Batch: row.Batch, Trial: row.Trial, Snapshot: row.Snapshot,
		Scripted: row.Scripted, Experiment: row.Experiment, State: run.State(row.State), Node: row.Node, Attempt: row.Attempt, Cancel: row.Cancel,
		Budget:    engine.Limit{Tokens: row.MaxTokens, Cost: engine.Money(row.MaxCost)},
		CreatedAt: row.CreatedAt.UTC(), StartedAt: orZero(row.StartedAt), EndedAt: orZero(row.EndedAt), Revision: row.Version,
		Summary: analytics.Summary(row.Summary),
	}
	webhook, err := db.Unseal(purpose("webhook of test run", row.Org, row.ID), row.Webhook)
	if err != nil {
		return r, err
	}
	r.Webhook = webhook.Reveal()
	if err := db.unseal(purpose("result of test run", row.Org, row.ID), row.Result, &r.Result); err != nil || row.Outcome == "" {
		return r, err
	}
	var outcome outcomeJSON
	err = db.unseal(purpose("outcome of test run", row.Org, row.ID), row.Outcome, &outcome)
	r.Outcome = new(engine.Outcome)
	*r.Outcome = outcome.outcome()
	return r, err
}

// orNull returns the stored form of a time, or nil for the zero time.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return sqldb.StoredIfSet(&t)
}

// orZero returns the time of a nullable column, or the zero time for nil.
func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// InsertRuns adds runs with revision 1, in one statement. It returns CodeConflict, and adds none of the runs, if an id exists.
func (s Store) InsertRuns(ctx context.Context, runs []run.Run) error {
	if len(runs) == 0 {
		return nil
	}
	rows, err := sqldb.ConvertedAll(runs, func(r run.Run) (runRow, error) {
		r.Revision = 1
		return s.core().runRow(r)
	})
	if err != nil {
		return err
	}
	return s.core().Write(ctx, []any{rows}, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewInsert().Model(&rows).Returning("NULL").Exec(ctx)
		return err
	})
}

func findRun(idb bun.IDB, org callwright.OrgID, id string) *bun.SelectQuery {
	return idb.NewSelect().Model((*runRow)(nil)).Where("id = ?", id).Where("org = ?", org)
}

// Run returns one run with its outcome, or CodeNotFound if it is absent.
func (s Store) Run(ctx context.Context, org callwright.OrgID, id string) (run.Run, error) {
	var row runRow
	err := s.core().Read(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		return sqldb.Absent("run", idb.NewSelect().Model(&row).Where("id = ?", id).Where("org = ?", org).Scan(ctx))
	})
	if err != nil {
		return run.Run{}, err
	}
	return s.core().run(row)
}

// UpdateRuns writes the changeable columns of runs, in one transaction. If a stored revision differs, it returns CodeConflict, and if a run
// is absent, CodeNotFound; it then changes none of the runs.
func (s Store) UpdateRuns(ctx context.Context, runs []run.Run) error {
	rows, err := sqldb.ConvertedAll(runs, s.core().runRow)
	if err != nil || len(rows) == 0 {
		return err
	}
	return s.DB.Do(ctx, func(ctx context.Context) error {
		return s.core().Write(ctx, []any{rows}, func(ctx context.Context, idb bun.IDB) error {
			for i, row := range rows {
				update := idb.NewUpdate().Model(&row).Column(changing...).WherePK().Where("org = ?", row.Org)
				find := findRun(idb, runs[i].Org, row.ID)
				if err := sqldb.Replace(ctx, "run", update, runs[i].Revision, find); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// CancelRun sets Cancel of a running run. It returns CodeConflict if the run is in any other state, and CodeNotFound if it is absent. It
// does not change the revision, because no other statement writes this column.
func (s Store) CancelRun(ctx context.Context, org callwright.OrgID, id string) error {
	return s.core().Write(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewUpdate().Model((*runRow)(nil)).Set("cancel = ?", true).Where("id = ?", id).Where("org = ?", org).
			Where(running).Exec(ctx)
		return sqldb.Outrun(ctx, "run", sqldb.Changed(result, err, callwright.ErrConflict), findRun(idb, org, id))
	})
}

type snapshotRow struct {
	bun.BaseModel `bun:"table:test_snapshots,alias:snapshot"`

	ID        string    `bun:"id,pk"`
	Org       string    `bun:"org"`
	Number    int       `bun:"pathway_number"`
	Hash      string    `bun:"hash"`
	CreatedAt time.Time `bun:"created_at"`
	Document  string    `bun:"document"` // sealed scenario.Scenario
}

// InsertSnapshots adds snapshots in one transaction, each with a separate statement, because a single statement with a hundred of the
// largest snapshots would be too large.
func (s Store) InsertSnapshots(ctx context.Context, snapshots []run.Snapshot) error {
	if len(snapshots) == 0 {
		return nil
	}
	return s.DB.Do(ctx, func(ctx context.Context) error {
		for _, snapshot := range snapshots {
			row := snapshotRow{
				ID: snapshot.ID, Org: string(snapshot.Org), Number: snapshot.Version, Hash: snapshot.Hash,
				CreatedAt: sqldb.Stored(snapshot.CreatedAt),
			}
			var err error
			row.Document, err = s.core().seal(purpose("test snapshot", row.Org, row.ID), snapshot.Scenario)
			if err != nil {
				return err
			}
			if err := s.core().Insert(ctx, row, &row); err != nil {
				return err
			}
		}
		return nil
	})
}

// HoldSnapshots locks snapshots until the transaction finishes, and returns the ids of the existing ones. SQLite needs no lock, because
// only one transaction writes at a time.
func (s Store) HoldSnapshots(ctx context.Context, org callwright.OrgID, ids []string) (held []string, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	err = s.core().Write(ctx, []any{org, ids}, func(ctx context.Context, idb bun.IDB) error {
		held = nil
		return s.core().ForUpdate(snapshotsIn(idb, bun.List(ids)).Where("org = ?", org)).Scan(ctx, &held)
	})
	return held, err
}

// snapshotsIn returns a query for the ids of snapshots. All transactions lock snapshots in the order of this query, which avoids deadlocks.
func snapshotsIn(idb bun.IDB, ids any) *bun.SelectQuery {
	return idb.NewSelect().Model((*snapshotRow)(nil)).Column("id").Where("id IN (?)", ids).Order("id")
}

// Snapshot returns one snapshot, or CodeNotFound if it is absent.
func (s Store) Snapshot(ctx context.Context, org callwright.OrgID, id string) (run.Snapshot, error) {
	var row snapshotRow
	err := s.core().Read(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		return sqldb.Absent("snapshot", idb.NewSelect().Model(&row).Where("id = ?", id).Where("org = ?", org).Scan(ctx))
	})
	if err != nil {
		return run.Snapshot{}, err
	}
	sc, err := s.core().unsealScenario(purpose("test snapshot", row.Org, row.ID), row.Document)
	return run.Snapshot{
		ID: row.ID, Org: org, Scenario: sc, Version: row.Number, Hash: row.Hash, CreatedAt: row.CreatedAt.UTC(),
	}, err
}
