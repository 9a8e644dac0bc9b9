package bunstore

import (
	"context"

	"github.com/uptrace/bun"
)

// Watch calls f with every statement that the stores run from now on.
func (db *DB) Watch(f func(statement string)) {
	db.writer.AddQueryHook(watcher(f))
	if db.reader != db.writer {
		db.reader.AddQueryHook(watcher(f))
	}
}

type watcher func(statement string)

func (watcher) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

func (w watcher) AfterQuery(_ context.Context, e *bun.QueryEvent) { w(e.Query) }
