package orgstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
)

type sessionRow struct {
	bun.BaseModel `bun:"table:sessions,alias:session"`

	ID        string    `bun:"id,pk"`
	Org       string    `bun:"org"`
	KeyID     string    `bun:"key_id"`
	Hash      []byte    `bun:"hash"`
	CreatedAt time.Time `bun:"created_at"`
	UsedAt    time.Time `bun:"used_at"`

	KeyName string  `bun:"key_name,scanonly"`             // set only by Sessions and SessionByHash
	Key     *keyRow `bun:"rel:belongs-to,join:key_id=id"` // set only by SessionByHash
}

func (r sessionRow) session() callwright.Session {
	return callwright.Session{
		ID: r.ID, Org: callwright.OrgID(r.Org), KeyID: r.KeyID, KeyName: r.KeyName, Hash: r.Hash,
		CreatedAt: r.CreatedAt.UTC(), UsedAt: r.UsedAt.UTC(),
	}
}

func newSessionRow(s callwright.Session) sessionRow {
	return sessionRow{
		ID: s.ID, Org: string(s.Org), KeyID: s.KeyID, Hash: s.Hash, CreatedAt: sqldb.Stored(s.CreatedAt), UsedAt: sqldb.Stored(s.UsedAt),
	}
}

func (s Tenants) sessions() sqldb.Rows[callwright.Session, sessionRow] {
	return sqldb.Rows[callwright.Session, sessionRow]{
		DB: s.DB.Core(), Kind: "session", Row: sqldb.Plain(newSessionRow), Value: sqldb.Plain(sessionRow.session),
	}
}

// InsertSession adds a session. It returns CodeConflict if the id or hash exists.
func (s Tenants) InsertSession(ctx context.Context, session callwright.Session) error {
	return s.sessions().Insert(ctx, session)
}

// SessionByHash returns the session with the given hash, the record of the session's key, and the organization, in one statement. It
// returns CodeNotFound if any of them is absent.
func (s Tenants) SessionByHash(ctx context.Context, hash []byte) (callwright.SessionOwner, error) {
	var row sessionRow
	err := s.core().Read(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
		row = sessionRow{}
		return sqldb.Absent("session", idb.NewSelect().Model(&row).Relation("Key").Relation("Key.Organization").Where("?TableAlias.hash = ?", hash).Scan(ctx))
	})
	if err == nil && (row.Key == nil || row.Key.Organization == nil) {
		err = callwright.NotFound("session")
	}
	if err != nil {
		return callwright.SessionOwner{}, err
	}
	row.KeyName = row.Key.Name
	org, err := s.core().organization(*row.Key.Organization)
	return callwright.SessionOwner{Session: row.session(), Key: row.Key.key(), Organization: org}, err
}

// Sessions returns a page of an organization's sessions, newest first. It omits sessions that were not used for the given idle time, and
// sessions whose key is not in force.
func (s Tenants) Sessions(
	ctx context.Context, org callwright.OrgID, now time.Time, idle time.Duration, after callwright.Keyset, limit int,
) ([]callwright.Session, error) {
	return s.sessions().Page(ctx, "created_at", after, max(limit, 1), []any{org}, func(q *bun.SelectQuery) *bun.SelectQuery {
		name := q.NewSelect().Model((*keyRow)(nil)).Column("name").Where("id = session.key_id")
		return q.ColumnExpr("session.*").ColumnExpr("(?) AS key_name", name).Where("org = ?", org).Where("used_at > ?", sqldb.Stored(now.Add(-idle))).
			Where("key_id IN (?)", inForce(q, org, now).Column("id"))
	})
}

// TouchSession sets the last use of a session to the given time. It changes nothing if the stored last use is later than that time minus
// the given interval.
func (s Tenants) TouchSession(ctx context.Context, id string, at time.Time, every time.Duration) error {
	return s.core().Write(ctx, []any{id}, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewUpdate().Model((*sessionRow)(nil)).Set("used_at = ?", sqldb.Stored(at)).Where("id = ?", id).
			Where("used_at <= ?", sqldb.Stored(at.Add(-every))).Exec(ctx)
		return err
	})
}

// DeleteSession deletes a session, or returns CodeNotFound if it is absent.
func (s Tenants) DeleteSession(ctx context.Context, org callwright.OrgID, id string) error {
	return s.core().Write(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewDelete().Model((*sessionRow)(nil)).Where("id = ?", id).Where("org = ?", org).Exec(ctx)
		return sqldb.Changed(result, err, callwright.NotFound("session"))
	})
}

// TrimSessions deletes the least recently used sessions of a key, so that at most the given number of sessions stays.
func (s Tenants) TrimSessions(ctx context.Context, key string, keep int) error {
	return s.core().Write(ctx, []any{key}, func(ctx context.Context, idb bun.IDB) error {
		kept := idb.NewSelect().Model((*sessionRow)(nil)).Column("id").
			Where("key_id = ?", key).Order("used_at DESC", "id DESC").Limit(int64(keep))
		_, err := idb.NewDelete().Model((*sessionRow)(nil)).Where("key_id = ?", key).Where("id NOT IN (?)", kept).Exec(ctx)
		return err
	})
}

// DeleteSessions deletes up to limit sessions that were last used at or before the given time, and returns how many it deleted.
func (s Tenants) DeleteSessions(ctx context.Context, until time.Time, limit int) (int, error) {
	return s.core().DeleteRows(ctx, (*sessionRow)(nil), func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("used_at <= ?", sqldb.Stored(until)).Order("used_at").Limit(int64(limit))
	})
}
