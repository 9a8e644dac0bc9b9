package bunstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
)

// insert adds a row made of value. A taken key is a conflict and, unlike an error of the database, leaves a transaction
// of PostgreSQL usable.
func (db *DB) insert(ctx context.Context, value, row any) error {
	return db.write(ctx, []any{value}, func(idb bun.IDB) error {
		result, err := idb.NewInsert().Model(row).On("CONFLICT DO NOTHING").Returning("NULL").Exec(ctx)
		return changed(result, err, callwright.ErrConflict)
	})
}

// replace runs the update of a row that is found by its key and version. When it changes nothing, somebody else was
// first, unless find finds no such row at all.
func replace(ctx context.Context, kind string, update *bun.UpdateQuery, version int64, find *bun.SelectQuery) error {
	result, err := update.Value("version", "version + 1").Where("version = ?", version).Exec(ctx)
	if err = changed(result, err, callwright.ErrConflict); !errors.Is(err, callwright.ErrConflict) {
		return err
	}
	if missing := exists(ctx, kind, find); missing != nil {
		return missing
	}
	return err
}

// exists is nil when the query finds a row.
func exists(ctx context.Context, kind string, find *bun.SelectQuery) error {
	found, err := find.Exists(ctx)
	if err == nil && !found {
		return callwright.NotFound(kind)
	}
	return err
}

// absent turns the error of a query that found no row into what it means.
func absent(kind string, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return callwright.NotFound(kind)
	}
	return err
}

// open decrypts a sealed secret of a row.
func (db *DB) open(purpose, sealed string) (callwright.Secret, error) {
	secret, err := db.Keyring.Open(purpose, sealed)
	if err != nil {
		return "", callwright.ErrInternal.Because(err)
	}
	return secret, nil
}

// stored is a time as both databases keep it, and as it is given back.
func stored(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func storedIfSet(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := stored(*t)
	return &u
}
