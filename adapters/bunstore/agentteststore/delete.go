package agentteststore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
)

// notInOpen is the condition that a run belongs to no group, or to a group that has ended.
const notInOpen = "NOT " + inOpen

// DeleteScenario deletes a scenario with its runs, or returns CodeNotFound if it is absent. Runs of groups that have not ended stay. It
// executes a fixed number of statements, however many runs there are.
func (s Store) DeleteScenario(ctx context.Context, org callwright.OrgID, id string) error {
	return s.DB.Do(ctx, func(ctx context.Context) error {
		return s.core().Write(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
			result, err := idb.NewDelete().Model((*scenarioRow)(nil)).Where("id = ?", id).Where("org = ?", org).Exec(ctx)
			if err := sqldb.Changed(result, err, callwright.NotFound("scenario")); err != nil {
				return err
			}
			_, err = s.core().deleteRuns(ctx, idb, idb.NewSelect().Model((*runRow)(nil)).Column("id").
				Where("org = ?", org).Where("scenario_id = ?", id).Where(notInOpen))
			return err
		})
	})
}

// emptied is the condition that a group has ended and contains only runs with the given ids.
const emptied = `batch.state NOT IN ('PENDING', 'RUNNING') AND NOT EXISTS (SELECT 1 FROM test_runs AS r
	WHERE r.org = batch.org AND r.batch_id = batch.id AND r.batch_id <> '' AND r.id NOT IN (?))`

// deleteRuns deletes runs and their journals, and returns the number of deleted runs. ids is a list of ids or a query that selects them. It
// also deletes snapshots that no other run uses, and ended groups that contain no other run.
func (db core) deleteRuns(ctx context.Context, idb bun.IDB, ids any) (int, error) {
	if _, err := idb.NewDelete().Model((*answerRow)(nil)).Where("run_id IN (?)", ids).Exec(ctx); err != nil {
		return 0, err
	}
	theirs := idb.NewSelect().Model((*runRow)(nil)).Column("snapshot_id").Where("id IN (?)", ids)
	// Another transaction that has locked a snapshot may add runs that use the snapshot. This lock waits for that transaction, so that the
	// next statement sees these runs.
	var held []string
	if err := db.ForUpdate(snapshotsIn(idb, theirs)).Scan(ctx, &held); err != nil {
		return 0, err
	}
	_, err := idb.NewDelete().Model((*snapshotRow)(nil)).Where("id IN (?)", theirs).
		Where("NOT EXISTS (SELECT 1 FROM test_runs AS other WHERE other.snapshot_id = snapshot.id AND other.id NOT IN (?))", ids).
		Exec(ctx)
	if err != nil {
		return 0, err
	}
	groups := idb.NewSelect().Model((*runRow)(nil)).Column("batch_id").Where("id IN (?)", ids).Where(inBatch)
	if _, err := idb.NewDelete().Model((*batchRow)(nil)).Where("id IN (?)", groups).Where(emptied, ids).Exec(ctx); err != nil {
		return 0, err
	}
	result, err := idb.NewDelete().Model((*runRow)(nil)).Where("id IN (?)", ids).Exec(ctx)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// DeleteRuns deletes up to limit runs that ended before the given time, and returns how many it deleted. It skips runs that another node is
// deleting.
func (s Store) DeleteRuns(ctx context.Context, before time.Time, limit int) (deleted int, err error) {
	if limit <= 0 {
		return 0, nil
	}
	err = s.DB.Do(ctx, func(ctx context.Context) error {
		return s.core().Write(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
			var ids []string
			old := idb.NewSelect().Model((*runRow)(nil)).Column("id").Where(over).Where("ended_at < ?", sqldb.Stored(before)).
				Order("ended_at").Limit(int64(limit))
			if err := s.core().SkipLocked(old).Scan(ctx, &ids); err != nil || len(ids) == 0 {
				deleted = 0
				return err
			}
			deleted, err = s.core().deleteRuns(ctx, idb, bun.List(ids))
			return err
		})
	})
	return deleted, err
}
