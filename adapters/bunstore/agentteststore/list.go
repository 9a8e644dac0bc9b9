package agentteststore

import (
	"cmp"
	"context"
	"slices"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
)

// The conditions of the partial indexes. SQLite uses an index only if a query contains its exact condition.
const (
	inBatch = "batch_id <> ''"
	ofOne   = "persona_id <> ''"
	waiting = "state = 'PENDING'"
	running = "state = 'RUNNING'"
	over    = "ended_at IS NOT NULL"
)

// FindRuns returns a page of runs without their outcomes and summaries. If the filter names several states, and neither a scenario nor a
// batch, FindRuns reads a page of each state, because each state is one range of the index of states. It reads the states in the order of a
// run's life: a run that changes its state meanwhile is found twice, not missed. FindRuns omits the duplicate.
func (s Store) FindRuns(ctx context.Context, org callwright.OrgID, f run.Filter) ([]run.Run, error) {
	if f.Limit <= 0 {
		return nil, nil
	}
	if len(f.States) < 2 || f.Scenario != "" || f.Batch != "" {
		return s.findRuns(ctx, org, f)
	}
	each := f
	each.Offset, each.Limit = 0, f.Offset+f.Limit
	var found []run.Run
	for _, state := range run.States() {
		if !slices.Contains(f.States, state) {
			continue
		}
		each.States = []run.State{state}
		runs, err := s.findRuns(ctx, org, each)
		if err != nil {
			return nil, err
		}
		found = append(found, runs...)
	}
	slices.SortStableFunc(found, func(a, b run.Run) int {
		order := cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
		if f.Oldest {
			return order
		}
		return -order
	})
	found = slices.CompactFunc(found, func(a, b run.Run) bool { return a.ID == b.ID })
	from := min(f.Offset, len(found))
	return found[from:min(from+f.Limit, len(found))], nil
}

func (s Store) findRuns(ctx context.Context, org callwright.OrgID, f run.Filter) ([]run.Run, error) {
	direction, beyond := " DESC", "(created_at, id) < (?, ?)"
	if f.Oldest {
		direction, beyond = " ASC", "(created_at, id) > (?, ?)"
	}
	var rows []runRow
	err := s.core().Read(ctx, []any{org, f}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		q := picked(idb.NewSelect().Model(&rows).ExcludeColumn("outcome", "summary"), org, f)
		if !f.After.IsZero() {
			q = q.Where(beyond, f.After.At, f.After.ID)
		}
		return q.Order("created_at"+direction, "id"+direction).Offset(int64(f.Offset)).Limit(int64(f.Limit)).Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	return sqldb.ConvertedAll(rows, s.core().run)
}

// picked restricts a query to the runs of an organization that match the filter, on all pages.
func picked(q *bun.SelectQuery, org callwright.OrgID, f run.Filter) *bun.SelectQuery {
	if f.Scenario != "" && f.Batch != "" {
		// The expression prevents the use of an index that begins with org. Such an index contains all runs of the batch or of the
		// scenario, while the index of trials contains only the wanted runs.
		q = q.Where("org || '' = ?", org)
	} else {
		q = q.Where("org = ?", org)
	}
	if f.Scenario != "" {
		q = q.Where("scenario_id = ?", f.Scenario)
	}
	if f.Pathway != "" {
		q = q.Where("pathway_id = ?", f.Pathway)
	}
	if f.Persona != "" {
		q = q.Where("persona_id = ?", f.Persona).Where(ofOne)
	}
	if f.Batch != "" {
		q = q.Where("batch_id = ?", f.Batch).Where(inBatch)
	}
	if len(f.NotBatches) > 0 {
		q = q.Where(waiting).Where("batch_id NOT IN (?)", bun.List(f.NotBatches))
	}
	switch len(f.States) {
	case 0:
	case 1:
		q = q.Where("state = ?", f.States[0])
	default:
		q = q.Where("state IN (?)", bun.List(f.States))
	}
	return q
}

// CountRuns returns the number of runs that match the filter, on all pages.
func (s Store) CountRuns(ctx context.Context, org callwright.OrgID, f run.Filter) (count int, err error) {
	err = s.core().Read(ctx, []any{org, f}, func(ctx context.Context, idb bun.IDB) (err error) {
		count, err = sqldb.Count(ctx, picked(idb.NewSelect().Model((*runRow)(nil)), org, f))
		return err
	})
	return count, err
}

// growing is the condition that a group still has runs to create. It is also the condition of a partial index.
const growing = "created < total AND NOT cancel"

// CountUnended returns the number of runs that have not ended, including runs that active groups have yet to create. It uses a single
// statement, so that a run that is created meanwhile is counted once.
func (s Store) CountUnended(ctx context.Context, org callwright.OrgID) (count int, err error) {
	err = s.core().Read(ctx, []any{org}, func(ctx context.Context, idb bun.IDB) error {
		f := run.Filter{States: []run.State{run.Pending, run.Running}}
		runs := picked(idb.NewSelect().Model((*runRow)(nil)).ColumnExpr("count(*)"), org, f)
		coming := idb.NewSelect().Model((*batchRow)(nil)).ColumnExpr("COALESCE(SUM(total - created), 0)").
			Where("org = ?", org).Where(growing).Where("state IN ('PENDING', 'RUNNING')")
		return idb.NewSelect().ColumnExpr("(?) + (?)", runs, coming).Scan(ctx, &count)
	})
	return count, err
}

// HoldStarts locks the start of tests of an organization until the transaction finishes. SQLite needs no lock, because only one transaction
// writes at a time.
func (s Store) HoldStarts(ctx context.Context, org callwright.OrgID) error {
	return s.core().Write(ctx, []any{org}, func(ctx context.Context, idb bun.IDB) error {
		return s.core().Alone(ctx, idb, "starts of tests of "+string(org))
	})
}

// Waiting returns up to limit organizations with pending runs, ordered by id. Each statement finds the next organization through an index,
// so that the number of pending runs does not matter.
func (s Store) Waiting(ctx context.Context, limit int) (orgs []callwright.OrgID, err error) {
	err = s.core().Read(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
		orgs = nil
		for last := ""; len(orgs) < limit; {
			var next []string
			err := idb.NewSelect().Model((*runRow)(nil)).Column("org").Where(waiting).Where("org > ?", last).
				Order("org").Limit(1).Scan(ctx, &next)
			if err != nil || len(next) == 0 {
				return err
			}
			last = next[0]
			orgs = append(orgs, callwright.OrgID(last))
		}
		return nil
	})
	return orgs, err
}

// Abandoned returns up to limit running runs whose node is not in alive.
func (s Store) Abandoned(ctx context.Context, alive []string, limit int) ([]run.Run, error) {
	if limit <= 0 {
		return nil, nil
	}
	var rows []runRow
	err := s.core().Read(ctx, []any{alive}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		q := idb.NewSelect().Model(&rows).ExcludeColumn("outcome", "summary").Where(running).Limit(int64(limit))
		if len(alive) > 0 {
			q = q.Where("node NOT IN (?)", bun.List(alive))
		}
		return q.Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	return sqldb.ConvertedAll(rows, s.core().run)
}

// Cancelled returns the ids of the node's running runs that must be canceled, alone or with their group. Runs of a group that was stopped
// because its budget is exhausted are not canceled.
func (s Store) Cancelled(ctx context.Context, node string) (ids []string, err error) {
	err = s.core().Read(ctx, []any{node}, func(ctx context.Context, idb bun.IDB) error {
		ids = nil
		return idb.NewSelect().Model((*runRow)(nil)).Column("id").Where(running).Where("node = ?", node).
			Where("(cancel OR EXISTS (SELECT 1 FROM test_batches AS b WHERE b.id = run.batch_id AND b.cancel AND b.reason <> ?))",
				group.StoppedByBudget).Scan(ctx, &ids)
	})
	return ids, err
}
