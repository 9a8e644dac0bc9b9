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

// The conditions of the partial indexes. SQLite uses them only for conditions with these very words.
const (
	inBatch = "batch_id <> ''"
	ofOne   = "persona_id <> ''"
	waiting = "state = 'PENDING'"
	running = "state = 'RUNNING'"
	over    = "ended_at IS NOT NULL"
)

// FindRuns returns a page of runs. Of several states, it reads a page of each: each is one range of the index of states. It reads
// them in the order in which states follow each other, so that a run that changes meanwhile is found twice rather than not.
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

// picked selects the runs of an organization that match the filter, on all pages.
func picked(q *bun.SelectQuery, org callwright.OrgID, f run.Filter) *bun.SelectQuery {
	if f.Scenario != "" && f.Batch != "" {
		// Neither database is to choose an index that begins with org: all of them have the whole batch, or all runs of the
		// scenario, while the index of trials contains only these runs.
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

// CountRuns counts runs.
func (s Store) CountRuns(ctx context.Context, org callwright.OrgID, f run.Filter) (count int, err error) {
	err = s.core().Read(ctx, []any{org, f}, func(ctx context.Context, idb bun.IDB) (err error) {
		count, err = sqldb.Count(ctx, picked(idb.NewSelect().Model((*runRow)(nil)), org, f))
		return err
	})
	return count, err
}

// growing is the condition that a group still has runs to create. A partial index has the same condition.
const growing = "created < total AND NOT cancel"

// CountUnended counts runs that have not ended, and runs still to be created, in one statement: a run that is created meanwhile is
// counted once.
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

// HoldStarts takes a lock of the organization. On SQLite the transaction writes already, and no other one does meanwhile.
func (s Store) HoldStarts(ctx context.Context, org callwright.OrgID) error {
	return s.core().Write(ctx, []any{org}, func(ctx context.Context, idb bun.IDB) error {
		return s.core().Alone(ctx, idb, "starts of tests of "+string(org))
	})
}

// Waiting returns the organizations that have runs to be started, one statement each: it steps over the other runs of an
// organization.
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

// Abandoned returns runs of nodes that are not alive.
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

// Cancelled returns the ids of a node's runs with a requested cancellation.
func (s Store) Cancelled(ctx context.Context, node string) (ids []string, err error) {
	err = s.core().Read(ctx, []any{node}, func(ctx context.Context, idb bun.IDB) error {
		ids = nil
		return idb.NewSelect().Model((*runRow)(nil)).Column("id").Where(running).Where("node = ?", node).
			Where("(cancel OR EXISTS (SELECT 1 FROM test_batches AS b WHERE b.id = run.batch_id AND b.cancel AND b.reason <> ?))",
				group.StoppedByBudget).Scan(ctx, &ids)
	})
	return ids, err
}
