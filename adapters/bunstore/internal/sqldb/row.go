package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
)

// Insert adds a row, after checking the texts in value. It returns CodeConflict if the key is taken. Unlike an error of the database, this
// conflict leaves a PostgreSQL transaction usable.
func (db *DB) Insert(ctx context.Context, value, row any) error {
	return db.Write(ctx, []any{value}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewInsert().Model(row).On("CONFLICT DO NOTHING").Returning("NULL").Exec(ctx)
		return Changed(result, err, callwright.ErrConflict)
	})
}

// Replace executes an update of the row with the given version, and increments the version. If the update finds no such row, Replace
// returns CodeNotFound if the query find selects no row either, and otherwise CodeConflict.
func Replace(ctx context.Context, kind string, update *bun.UpdateQuery, version int64, find *bun.SelectQuery) error {
	result, err := update.Value("version", "version + 1").Where("version = ?", Int(version)).Exec(ctx)
	return Outrun(ctx, kind, Changed(result, err, callwright.ErrConflict), find)
}

// Outrun distinguishes the reasons of a conflict. If err is a conflict and the query find selects no row, Outrun returns CodeNotFound. If
// the query fails, Outrun returns the error of the query. Otherwise it returns err.
func Outrun(ctx context.Context, kind string, err error, find *bun.SelectQuery) error {
	if !errors.Is(err, callwright.ErrConflict) {
		return err
	}
	if missing := Exists(ctx, kind, find); missing != nil {
		return missing
	}
	return err
}

// Supplant inserts a row. If a row with its key exists, Supplant replaces it and increments its version, so that concurrent updates of the
// old row conflict. It returns CodeConflict if the existing row belongs to another organization.
func (db *DB) Supplant(ctx context.Context, idb bun.IDB, row any, key string) error {
	insert := idb.NewInsert().Model(row).On("CONFLICT (?) DO UPDATE", bun.Ident(key)).
		Where("?TableAlias.org = EXCLUDED.org").Returning("NULL")
	for _, field := range db.writer.Table(reflect.TypeOf(row)).DataFields {
		if field.Name != "version" {
			insert.Set("?0 = EXCLUDED.?0", bun.Ident(field.Name))
		}
	}
	result, err := insert.Set("version = ?TableAlias.version + 1").Exec(ctx)
	return Changed(result, err, callwright.ErrConflict)
}

// DeleteRows deletes the rows that the function choose selects, and returns how many it deleted. It skips rows that another transaction has
// locked, for example because another node is deleting them.
func (db *DB) DeleteRows(
	ctx context.Context, model any, choose func(*bun.SelectQuery) *bun.SelectQuery,
) (removed int, err error) {
	err = db.Write(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
		old := choose(idb.NewSelect().Model(model).Column("id"))
		old = db.SkipLocked(old)
		result, err := idb.NewDelete().Model(model).Where("id IN (?)", old).Exec(ctx)
		if err != nil {
			return err
		}
		rows, err := result.RowsAffected()
		removed = int(rows)
		return err
	})
	return removed, err
}

// Exists returns nil if the query finds a row, CodeNotFound for an object of the given kind if it finds none, and otherwise the error of
// the query.
func Exists(ctx context.Context, kind string, find *bun.SelectQuery) error {
	found, err := find.ColumnExpr("1").Exists(ctx) // selecting all columns would take longer than finding the row
	if err == nil && !found {
		return callwright.NotFound(kind)
	}
	return err
}

// Count returns the number of rows that a query selects.
func Count(ctx context.Context, query *bun.SelectQuery) (int, error) {
	n, err := query.Count(ctx)
	return int(n), err
}

// Absent replaces sql.ErrNoRows with CodeNotFound for an object of the given kind. It returns other errors unchanged.
func Absent(kind string, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return callwright.NotFound(kind)
	}
	return err
}

// Unseal decrypts a sealed value of a row. It returns CodeInternal if the value cannot be decrypted.
func (db *DB) Unseal(purpose, sealed string) (callwright.Secret, error) {
	secret, err := db.Keyring.Open(purpose, sealed)
	if err != nil {
		return "", callwright.ErrInternal.Because(err)
	}
	return secret, nil
}

// Stored returns t in UTC, truncated to microseconds, the precision of both databases.
func Stored(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// StoredIfSet returns the stored form of a time, or nil for nil.
func StoredIfSet(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := Stored(*t)
	return &u
}

// Converted returns the converted elements of a list. It returns nil for a nil list.
func Converted[A, B any](list []A, convert func(A) B) []B {
	if list == nil {
		return nil
	}
	out := make([]B, len(list))
	for i, a := range list {
		out[i] = convert(a)
	}
	return out
}

// ConvertedAll returns the converted elements of a list, or the first error of a conversion.
func ConvertedAll[A, B any](rows []A, convert func(A) (B, error)) ([]B, error) {
	out := make([]B, len(rows))
	for i, row := range rows {
		var err error
		if out[i], err = convert(row); err != nil {
			return nil, err
		}
	}
	return out, nil
}
