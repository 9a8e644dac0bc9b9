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

// Insert adds a row made of value. A taken key is a conflict and, unlike an error of the database, leaves a transaction
// of PostgreSQL usable.
func (db *DB) Insert(ctx context.Context, value, row any) error {
	return db.Write(ctx, []any{value}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewInsert().Model(row).On("CONFLICT DO NOTHING").Returning("NULL").Exec(ctx)
		return Changed(result, err, callwright.ErrConflict)
	})
}

// Replace runs the update of a row with a key and a version. When the update changes nothing, the row has another version
// (CodeConflict), or find finds no row at all (CodeNotFound).
func Replace(ctx context.Context, kind string, update *bun.UpdateQuery, version int64, find *bun.SelectQuery) error {
	result, err := update.Value("version", "version + 1").Where("version = ?", Int(version)).Exec(ctx)
	return Outrun(ctx, kind, Changed(result, err, callwright.ErrConflict), find)
}

// Outrun looks into a conflict of versions: it stays a conflict when find finds the row, and becomes CodeNotFound when it
// does not.
func Outrun(ctx context.Context, kind string, err error, find *bun.SelectQuery) error {
	if !errors.Is(err, callwright.ErrConflict) {
		return err
	}
	if missing := Exists(ctx, kind, find); missing != nil {
		return missing
	}
	return err
}

// Supplant adds a row, or replaces the row with its key and continues the version numbers of that row, so that updates by its
// readers conflict. It returns a conflict when the replaced row belongs to another organization.
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

// DeleteRows deletes the rows of a table that choose selects, and returns their number. It skips rows that another node is deleting.
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

// Exists returns nil when the query finds a row, and CodeNotFound when it does not.
func Exists(ctx context.Context, kind string, find *bun.SelectQuery) error {
	found, err := find.ColumnExpr("1").Exists(ctx) // naming all columns would cost more than looking for the row
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

// Absent turns the error of a query that found no row into a CodeNotFound.
func Absent(kind string, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return callwright.NotFound(kind)
	}
	return err
}

// Unseal decrypts a sealed secret of a row.
func (db *DB) Unseal(purpose, sealed string) (callwright.Secret, error) {
	secret, err := db.Keyring.Open(purpose, sealed)
	if err != nil {
		return "", callwright.ErrInternal.Because(err)
	}
	return secret, nil
}

// Stored returns a time with the precision that both databases keep, in UTC.
func Stored(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// StoredIfSet is Stored for a time that may be missing.
func StoredIfSet(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := Stored(*t)
	return &u
}

// Converted returns a list with every element converted. A nil list stays nil.
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

// ConvertedAll returns a list with every element converted, or the first error.
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
