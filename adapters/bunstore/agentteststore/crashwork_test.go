package agentteststore_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
)

// tableWork is a callwright.Work that stores its tasks in a table of the test's database. One goroutine runs the tasks.
type tableWork struct {
	db       *bunstore.DB
	handlers map[string]callwright.Handler
}

var _ callwright.Work = (*tableWork)(nil)

func newTableWork(ctx context.Context, db *bunstore.DB) (*tableWork, error) {
	_, err := db.SQL().ExecContext(ctx, "CREATE TABLE IF NOT EXISTS crash_work (n INTEGER PRIMARY KEY, task TEXT NOT NULL, at INTEGER NOT NULL)")
	return &tableWork{db, map[string]callwright.Handler{}}, err
}

// Enqueue adds a task, in the transaction of the context if there is one.
func (w *tableWork) Enqueue(ctx context.Context, task callwright.Task) error {
	raw, err := json.Marshal(task)
	if err != nil {
		return err
	}
	const insert = "INSERT INTO crash_work (task, at) VALUES (?, ?)"
	if tx, ok := w.db.Tx(ctx); ok {
		_, err = tx.ExecContext(ctx, insert, string(raw), task.RunAt.Unix())
	} else {
		_, err = w.db.SQL().ExecContext(ctx, insert, string(raw), task.RunAt.Unix())
	}
	return err
}

// Handle registers the handler of a kind for all queues.
func (w *tableWork) Handle(_ callwright.Queue, kind string, h callwright.Handler) {
	w.handlers[kind] = h
}

// Every does nothing, because the first interval of each periodic task is longer than these tests.
func (w *tableWork) Every(callwright.Queue, string, time.Duration, callwright.Handler) {}

// step runs the due tasks, and reports whether later tasks remain.
func (w *tableWork) step(ctx context.Context) (more bool, err error) {
	for {
		var n int
		var raw string
		row := w.db.SQL().QueryRowContext(ctx, "SELECT n, task FROM crash_work WHERE at <= ? ORDER BY n LIMIT 1", time.Now().Unix())
		if err := row.Scan(&n, &raw); errors.Is(err, sql.ErrNoRows) {
			break
		} else if err != nil {
			return false, err
		}
		var task callwright.Task
		if err := json.Unmarshal([]byte(raw), &task); err != nil {
			return false, err
		}
		if err := w.handlers[task.Kind](ctx, task, 1); err != nil {
			return false, err
		}
		if _, err := w.db.SQL().ExecContext(ctx, "DELETE FROM crash_work WHERE n = ?", n); err != nil {
			return false, err
		}
	}
	var left int
	err = w.db.SQL().QueryRowContext(ctx, "SELECT count(*) FROM crash_work").Scan(&left)
	return left > 0, err
}
