package sipstore

import (
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/ladder"
)

// CallLog stores records of calls; it implements calllog.Store.
type CallLog struct{ DB *bunstore.DB }

func (s CallLog) rows() sqldb.Rows[calllog.Record, recordRow] {
	return sqldb.Rows[calllog.Record, recordRow]{DB: s.DB.Core(), Kind: "call", Row: sqldb.Plain(newRecordRow), Value: sqldb.Plain(recordRow.record)}
}

// Begin adds a record without its End. It leaves an existing record unchanged, without an error.
func (s CallLog) Begin(ctx context.Context, r calllog.Record) error {
	r.End = calllog.End{}
	err := s.rows().Insert(ctx, r)
	if errors.Is(err, callwright.ErrConflict) {
		return nil
	}
	return err
}

// Answer sets the time at which a call was answered, unless the record has ended. It returns CodeNotFound if the record is absent.
func (s CallLog) Answer(ctx context.Context, org callwright.OrgID, id string, at time.Time) error {
	return s.rows().DB.Write(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		_, err := s.change(ctx, idb, org, id, func(q *bun.UpdateQuery) *bun.UpdateQuery {
			return q.Set("answered_at = ?", sqldb.Stored(at))
		})
		return err
	})
}

// change updates a record that has not ended, and reports whether it did. It returns CodeNotFound if the record is absent.
func (s CallLog) change(
	ctx context.Context, idb bun.IDB, org callwright.OrgID, id string, set func(*bun.UpdateQuery) *bun.UpdateQuery,
) (bool, error) {
	update := idb.NewUpdate().Model((*recordRow)(nil)).
		Where("id = ?", id).Where("org = ?", org).Where("ended_at IS NULL")
	result, err := set(update).Exec(ctx)
	if err = sqldb.Changed(result, err, callwright.ErrConflict); !errors.Is(err, callwright.ErrConflict) {
		return err == nil, err
	}
	return false, sqldb.Exists(ctx, "call", findRecord(idb.NewSelect().Model((*recordRow)(nil)), org, id))
}

func findRecord(q *bun.SelectQuery, org callwright.OrgID, id string) *bun.SelectQuery {
	return q.Where("id = ?", id).Where("org = ?", org)
}

// Finish stores the end of a record and its ladder, in one transaction. It leaves an ended record unchanged. It returns CodeBadRequest if
// end.EndedAt is nil, and CodeNotFound if the record is absent.
func (s CallLog) Finish(
	ctx context.Context, org callwright.OrgID, id string, end calllog.End, steps []ladder.Event,
) error {
	if end.EndedAt == nil {
		return callwright.Invalid("ended_at", "is required")
	}
	row := ladderRow{CallID: id, Events: sqldb.Converted(steps, newStep)}
	return s.DB.Do(ctx, func(ctx context.Context) error {
		return s.rows().DB.Write(ctx, []any{org, id, end, steps}, func(ctx context.Context, idb bun.IDB) error {
			ended, err := s.change(ctx, idb, org, id, func(q *bun.UpdateQuery) *bun.UpdateQuery {
				return q.Set("answered_at = COALESCE(?, answered_at)", sqldb.StoredIfSet(end.AnsweredAt)).
					Set("ended_at = ?", sqldb.StoredIfSet(end.EndedAt)).
					Set("sip_code = ?", sqldb.Int(end.SIPCode)).Set("status = ?", end.Status).Set("cause = ?", end.Cause).
					Set("reason = ?", end.Reason).Set("technical = ?", end.Technical)
			})
			if err != nil || !ended || len(steps) == 0 {
				return err
			}
			_, err = idb.NewInsert().Model(&row).Exec(ctx)
			return err
		})
	})
}

// Get returns one record with its ladder, or CodeNotFound if it is absent.
func (s CallLog) Get(ctx context.Context, org callwright.OrgID, id string) (calllog.Record, []ladder.Event, error) {
	var row recordRow
	err := s.rows().DB.Read(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		return sqldb.Absent("call", findRecord(withLadders(idb, &row), org, id).Scan(ctx))
	})
	if err != nil {
		return calllog.Record{}, nil, err
	}
	return row.record(), sqldb.Converted(row.Events, stepJSON.event), nil
}

// withLadders returns a query for records with their ladders.
func withLadders(idb bun.IDB, into any) *bun.SelectQuery {
	events := idb.NewSelect().Model((*ladderRow)(nil)).Column("events").Where("call_id = sip_calls.id")
	return idb.NewSelect().Model(into).ColumnExpr("sip_calls.*").ColumnExpr("(?) AS events", events)
}

// Attempts returns up to limit records of the attempts of a call, with their ladders, oldest first. The argument parent is the id of the
// call.
func (s CallLog) Attempts(ctx context.Context, org callwright.OrgID, parent string, limit int) ([]calllog.Attempt, error) {
	var rows []recordRow
	err := s.rows().DB.Read(ctx, []any{org, parent}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return withLadders(idb, &rows).Where("parent_id = ?", parent).Where("parent_id <> ''").Where("org = ?", org).
			Order("started_at", "id").Limit(int64(limit)).Scan(ctx)
	})
	return sqldb.Converted(rows, func(r recordRow) calllog.Attempt {
		return calllog.Attempt{Record: r.record(), Ladder: sqldb.Converted(r.Events, stepJSON.event)}
	}), err
}

// List returns a page of the records of a number, newest first, without their ladders.
func (s CallLog) List(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, before callwright.Keyset, limit int,
) ([]calllog.Record, error) {
	return s.rows().Page(ctx, "started_at", before, limit, []any{org, number}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("org = ?", org).Where("number = ?", number)
	})
}

// Failures returns how many attempts of a trunk ended at or after the given time, and how many of those failed for technical reasons
// (calllog.End.Technical).
func (s CallLog) Failures(
	ctx context.Context, org callwright.OrgID, trunkID string, since time.Time,
) (ended, failed int, err error) {
	err = s.rows().DB.Read(ctx, []any{org, trunkID}, func(ctx context.Context, idb bun.IDB) error {
		return idb.NewSelect().Model((*recordRow)(nil)).
			ColumnExpr("COUNT(*)").ColumnExpr("COUNT(CASE WHEN technical THEN 1 END)").
			Where("trunk_id = ?", trunkID).Where("ended_at >= ?", since).Where("org = ?", org).
			Scan(ctx, &ended, &failed)
	})
	return ended, failed, err
}

// DeleteOld deletes up to limit ended records of calls that began before the given time, with their ladders. It returns how many records it
// deleted.
func (s CallLog) DeleteOld(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.rows().DB.DeleteRows(ctx, (*recordRow)(nil), func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("ended_at IS NOT NULL").Where("started_at < ?", sqldb.Stored(before)).Order("started_at").Limit(int64(limit))
	})
}

// Lost returns up to limit records that have not ended, began at or before the given time, and whose node is not in alive, oldest first.
func (s CallLog) Lost(ctx context.Context, alive []string, before time.Time, limit int) ([]calllog.Record, error) {
	return s.rows().Select(ctx, []any{alive}, func(q *bun.SelectQuery) *bun.SelectQuery {
		if len(alive) > 0 {
			q = q.Where("node NOT IN (?)", bun.List(alive))
		}
		return q.Where("ended_at IS NULL").Where("started_at <= ?", sqldb.Stored(before)).Order("started_at", "id").Limit(int64(limit))
	})
}
