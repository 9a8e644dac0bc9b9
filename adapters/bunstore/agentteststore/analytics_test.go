package agentteststore_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/run"
)

// inOrder matches query plans that read runs in the order of an index. A plan of SQLite must read nothing but the index. A plan of
// PostgreSQL may read rows, too, because the visibility of new rows is not in the index.
var inOrder = regexp.MustCompile(`COVERING INDEX test_runs_by_window|Index Only Scan Backward using test_runs_by_window|Index Scan Backward using test_runs_by`)

// TestWindowsAreReadFromTheirIndex reads a window of several pages, in which many runs have the same time: each run is read once, and the
// query plans use the index without sorting.
func TestWindowsAreReadFromTheirIndex(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		const within, outside = 12_000, 12_000
		fillWindow(t, db, start, within, outside)
		for _, statement := range []string{
			"UPDATE test_runs SET created_at = (SELECT MAX(created_at) FROM test_runs) WHERE trial % 2 = 0 AND trial >= 20000",
			"ANALYZE",
		} {
			if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		store := agentteststore.Store{DB: db}
		var got []analytics.Run
		w := run.Window{Pathway: "p1", From: start.Add(-365 * 24 * time.Hour)}
		seen := storetest.Statements(t, db, func() error {
			got = nil
			return store.EachEnded(t.Context(), org, w, func(r analytics.Run) { got = append(got, r) })
		})
		newestFirst := func(a, b analytics.Run) int {
			return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), strings.Compare(b.ID, a.ID))
		}
		if len(got) != within || !slices.IsSortedFunc(got, newestFirst) {
			t.Fatalf("there are %d runs, sorted: %t", len(got), slices.IsSortedFunc(got, newestFirst))
		}
		ids := map[string]bool{}
		for _, r := range got {
			ids[r.ID] = true
		}
		if len(ids) != within || len(seen) != 3 {
			t.Errorf("there are %d different runs of %d, in %d statements", len(ids), within, len(seen))
		}
		var newest []analytics.Run
		w.Limit = 7_000
		err := store.EachEnded(t.Context(), org, w, func(r analytics.Run) { newest = append(newest, r) })
		if err != nil || !slices.Equal(newest, got[:7_000]) {
			t.Errorf("the newest 7,000 are %d runs, %v", len(newest), err)
		}
		for _, query := range seen {
			plan := storetest.Explain(t, db, query, true)
			if !inOrder.MatchString(plan) || strings.Contains(plan, "Sort") || strings.Contains(plan, "TEMP") {
				t.Errorf("not in the order of an index: %s\n%s", query, plan)
			}
		}
	})
}

// TestLongestSummariesAreStored checks that the longest summary fits into the index. An index entry of PostgreSQL is limited to 2,704
// bytes.
func TestLongestSummariesAreStored(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db, score := open(t), 1.0/3
		visits := make([]string, 200)
		for i := range visits {
			visits[i] = fmt.Sprint(i) + strings.Repeat(string(rune(0x4e00+i*7)), 100)
		}
		long := strings.Repeat("0123456789abcdef", 4)
		one := run.Run{
			ID: long, Org: org, Scenario: long[1:], Pathway: long[2:], Version: 10_000, State: run.Failed, CreatedAt: start, EndedAt: start,
			Summary: analytics.NewSummary(&score, visits, visits[199]), Revision: 1,
		}
		store := agentteststore.Store{DB: db}
		if err := store.InsertRuns(t.Context(), []run.Run{one}); err != nil {
			t.Fatal(err)
		}
		var got []analytics.Run
		err := store.EachEnded(t.Context(), org, run.Window{Pathway: one.Pathway, From: start}, func(r analytics.Run) { got = append(got, r) })
		if err != nil || len(got) != 1 || got[0].Summary != one.Summary || len(one.Summary) < 1500 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}
