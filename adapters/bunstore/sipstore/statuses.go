package sipstore

import (
	"context"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/health"
)

// Statuses stores the status of trunks and of their servers; it implements sip.Statuses.
type Statuses struct{ DB *bunstore.DB }

func (s Statuses) core() core { return core{s.DB.Core()} }

// StoreStatus stores a status and releases the lease of the status. Version 0 replaces any stored status of the organization's trunk. For
// any other version, StoreStatus returns CodeConflict if the stored version differs, and CodeNotFound if no status is stored. It locks the
// rows of servers before those of statuses, like StoreServer and WakeStatuses: transactions that lock them in another order could deadlock.
func (s Statuses) StoreStatus(ctx context.Context, status sip.Status) error {
	return s.DB.Do(ctx, func(ctx context.Context) error {
		return s.core().Write(ctx, []any{status}, func(ctx context.Context, idb bun.IDB) error {
			keys, known, err := watchServers(ctx, idb, status)
			if err != nil {
				return err
			}
			status.Recorded = status.Known(known).State()
			if err := s.replace(ctx, idb, status); err != nil {
				return err
			}
			return nameServers(ctx, idb, status, keys)
		})
	})
}

// RecordStatus replaces a status without changing its servers, and releases the lease of the status. It returns CodeConflict if the stored
// version differs, and CodeNotFound if the status is absent.
func (s Statuses) RecordStatus(ctx context.Context, status sip.Status) error {
	row := newStatusRow(status)
	return s.core().Write(ctx, []any{status}, func(ctx context.Context, idb bun.IDB) error {
		return replaceStatus(ctx, idb, row)
	})
}

// replace inserts or supplants a status of version 0, and replaces any other.
func (s Statuses) replace(ctx context.Context, idb bun.IDB, status sip.Status) error {
	row := newStatusRow(status)
	if row.Version == 0 {
		row.Version = 1
		return s.core().Supplant(ctx, idb, &row, "trunk_id")
	}
	return replaceStatus(ctx, idb, row)
}

func replaceStatus(ctx context.Context, idb bun.IDB, row statusRow) error {
	update := idb.NewUpdate().Model(&row).WherePK().Where("org = ?", row.Org)
	return sqldb.Replace(ctx, "status", update, row.Version, findStatus(idb, callwright.OrgID(row.Org), row.TrunkID))
}

// Group returns the smallest trunk id in an alert group, and the number of trunks in the group.
func (s Statuses) Group(ctx context.Context, org callwright.OrgID, group string) (first string, count int, err error) {
	if group == "" {
		return "", 0, nil
	}
	err = s.core().Read(ctx, []any{org, group}, func(ctx context.Context, idb bun.IDB) error {
		return idb.NewSelect().Model((*statusRow)(nil)).ColumnExpr("COALESCE(MIN(trunk_id), '')").ColumnExpr("COUNT(*)").
			Where("org = ?", org).Where("alert_group = ?", group).Scan(ctx, &first, &count)
	})
	return first, count, err
}

func findStatus(idb bun.IDB, org callwright.OrgID, trunkID string) *bun.SelectQuery {
	return idb.NewSelect().Model((*statusRow)(nil)).Where("trunk_id = ?", trunkID).Where("org = ?", org)
}

// Status returns the status of a trunk, with the states of its servers, or CodeNotFound if it is absent.
func (s Statuses) Status(ctx context.Context, org callwright.OrgID, trunkID string) (sip.Status, error) {
	var found []sip.Status
	err := s.core().Read(ctx, []any{org, trunkID}, func(ctx context.Context, idb bun.IDB) error {
		var row statusRow
		err := sqldb.Absent("status", findStatus(idb, org, trunkID).Scan(ctx, &row))
		if err != nil {
			return err
		}
		found, err = known(ctx, idb, []statusRow{row})
		return err
	})
	if err != nil {
		return sip.Status{}, err
	}
	return found[0], nil
}

// StatusesOf returns the statuses of the given trunks, ordered by number. It omits absent ones.
func (s Statuses) StatusesOf(ctx context.Context, org callwright.OrgID, trunkIDs []string) ([]sip.Status, error) {
	if len(trunkIDs) == 0 {
		return nil, nil
	}
	return s.list(ctx, []any{org, trunkIDs}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("trunk_id IN (?)", bun.List(trunkIDs)).Where("org = ?", org).Order("number")
	})
}

// DeleteStatus deletes the status of a trunk, and servers to which no other trunk refers. It returns nil if the status is absent.
func (s Statuses) DeleteStatus(ctx context.Context, org callwright.OrgID, trunkID string) error {
	return s.DB.Do(ctx, func(ctx context.Context) error {
		return s.core().Write(ctx, []any{org, trunkID}, func(ctx context.Context, idb bun.IDB) error {
			_, err := idb.NewDelete().Model((*statusRow)(nil)).Where("trunk_id = ?", trunkID).Where("org = ?", org).Exec(ctx)
			if err != nil {
				return err
			}
			return nameServers(ctx, idb, sip.Status{TrunkID: trunkID, Org: org}, nil)
		})
	})
}

// CountStatuses returns the number of statuses in each state, at most limit for each. It reads only a range of an index for each state.
func (s Statuses) CountStatuses(ctx context.Context, org callwright.OrgID, limit int) (map[health.State]int, error) {
	counts := map[health.State]int{}
	err := s.core().Read(ctx, []any{org}, func(ctx context.Context, idb bun.IDB) error {
		for _, state := range []health.State{health.Healthy, health.Unreachable, health.Unchecked} {
			var found []int
			err := idb.NewSelect().Model((*statusRow)(nil)).ColumnExpr("1").
				Where("org = ?", org).Where("state = ?", state).Limit(int64(limit)).Scan(ctx, &found)
			if err != nil {
				return err
			}
			if delete(counts, state); len(found) > 0 {
				counts[state] = len(found)
			}
		}
		return nil
	})
	return counts, err
}

// WorstStatuses returns up to limit statuses in a state, longest downtime first.
func (s Statuses) WorstStatuses(ctx context.Context, org callwright.OrgID, state health.State, limit int) ([]sip.Status, error) {
	return s.list(ctx, []any{org}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("org = ?", org).Where("state = ?", state).Order("down_ns DESC", "number").Limit(int64(limit))
	})
}

// list returns the statuses that the function choose selects, with the states of their servers.
func (s Statuses) list(ctx context.Context, inputs []any, choose func(*bun.SelectQuery) *bun.SelectQuery) (found []sip.Status, err error) {
	err = s.core().Read(ctx, inputs, func(ctx context.Context, idb bun.IDB) error {
		var rows []statusRow
		if err := choose(idb.NewSelect().Model(&rows)).Scan(ctx); err != nil {
			return err
		}
		found, err = known(ctx, idb, rows)
		return err
	})
	return found, err
}

// ClaimStatuses leases up to limit statuses that are due at the first given time, and returns them in the order of their due times. The
// leases end at the second. ClaimStatuses skips leased statuses.
func (s Statuses) ClaimStatuses(ctx context.Context, now, until time.Time, limit int) ([]sip.Status, error) {
	var leased []sip.Status
	err := s.core().Write(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
		var rows []statusRow
		due := idb.NewSelect().Model((*statusRow)(nil)).Column("trunk_id").
			Where("probe_at <= ?", sqldb.Stored(now)).Where("lease_until IS NULL OR lease_until <= ?", sqldb.Stored(now)).
			Order("probe_at").Limit(int64(limit))
		if err := s.core().claim(ctx, idb.NewUpdate().Model(&rows).Set("lease_until = ?", sqldb.Stored(until)), due); err != nil {
			return err
		}
		// RETURNING guarantees no order.
		slices.SortFunc(rows, func(a, b statusRow) int { return a.ProbeAt.Compare(b.ProbeAt) })
		var err error
		leased, err = known(ctx, idb, rows)
		return err
	})
	return leased, err
}

// claim executes update for the rows whose trunk_id the query due selects, and reads these rows into the model of update. It skips rows
// that other transactions have locked. The query due is in a WITH clause, which runs it only once: PostgreSQL may run a subquery for each
// row, and lock other rows each time.
func (db core) claim(ctx context.Context, update *bun.UpdateQuery, due *bun.SelectQuery) error {
	_, err := update.With("due", db.SkipLocked(due)).
		Where("trunk_id IN (SELECT trunk_id FROM due)").Returning("*").Exec(ctx)
	return err
}
