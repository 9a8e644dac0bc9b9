package storetest

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
)

// Explain returns the query plan of a statement. If guess is false, PostgreSQL uses an index whenever it can, even for a small table.
func Explain(t *testing.T, db *bunstore.DB, statement string, guess bool) string {
	t.Helper()
	tx, err := db.SQL().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	prefix, columns := "EXPLAIN QUERY PLAN ", 4
	if db.PostgresDSN() != "" {
		prefix, columns = "EXPLAIN ", 1
		if !guess {
			if _, err := tx.ExecContext(t.Context(), "SET LOCAL enable_seqscan = off"); err != nil {
				t.Fatal(err)
			}
		}
	}
	rows, err := tx.QueryContext(t.Context(), prefix+statement)
	if err != nil {
		t.Fatalf("explain %s: %v", statement, err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		into := make([]any, columns)
		var line string
		for i := range into {
			into[i] = new(any)
		}
		into[columns-1] = &line
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}

// Statements calls the function use, and returns the SELECT, UPDATE, DELETE and WITH statements that it executes. If use returns an error,
// Statements fails the test.
func Statements(t *testing.T, db *bunstore.DB, use func() error) []string {
	t.Helper()
	var seen []string
	db.Core().Watch(func(statement string) {
		if regexp.MustCompile(`^(SELECT|UPDATE|DELETE|WITH)`).MatchString(statement) {
			seen = append(seen, statement)
		}
	})
	if err := use(); err != nil {
		t.Fatal(err)
	}
	return seen
}

// whole matches a query plan that scans a whole table.
var whole = regexp.MustCompile(`Seq Scan|SCAN \S+$|SCAN \S+\n`)

// UsesIndexes calls the function use on every kind of database, and fails the test if a statement scans a whole table. The function must
// call all methods of a store that query rows, and return their errors. CodeNotFound and CodeConflict are allowed.
func UsesIndexes(t *testing.T, use func(ctx context.Context, db *bunstore.DB, now time.Time) []error) {
	t.Helper()
	OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db, now := open(t), time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
		seen := Statements(t, db, func() error {
			for _, err := range use(t.Context(), db, now) {
				if err != nil && !errors.Is(err, callwright.ErrNotFound) && !errors.Is(err, callwright.ErrConflict) {
					return err
				}
			}
			return nil
		})
		if len(seen) < 3 {
			t.Fatalf("saw only %d statements", len(seen))
		}
		for _, statement := range seen {
			if plan := Explain(t, db, statement, false); whole.MatchString(plan) {
				t.Errorf("reads a whole table: %s\n%s", statement, plan)
			}
		}
	})
}
