package agentteststore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/run"
)

// fillWindow stores ended runs of pathway p1. The parameter within is the number of runs in the 365 days before end, and outside the number
// of runs before these days, all evenly distributed. The runs belong to 50 scenarios and 4 versions, and follow 200 paths of 4 to 11 nodes
// with ids of 36 bytes.
func fillWindow(t testing.TB, db *bunstore.DB, end time.Time, within, outside int) {
	t.Helper()
	r, score := agenttesttest.FullRun("template"), 0.875
	r.Batch, r.Persona, r.Webhook, r.Result, r.Outcome = "", "", "", run.Result{}, nil // a sealed value can be read only in its own row
	if err := (agentteststore.Store{DB: db}).InsertRuns(t.Context(), []run.Run{r}); err != nil {
		t.Fatal(err)
	}
	var ways strings.Builder
	for w := range 200 {
		visits := make([]string, 4+w%8)
		for i := range visits {
			visits[i] = fmt.Sprintf("01932c20-1c32-7a21-8b63-%012d", i*3+(w>>i)%3)
		}
		summary := analytics.NewSummary(&score, visits, visits[w%len(visits)])
		fmt.Fprintf(&ways, " WHEN %d THEN '%s'", w, summary)
	}
	all := within + outside
	seconds := fmt.Sprintf("i * CAST(%d AS BIGINT) / %d", int64(365*24*3600-1)*int64(all)/int64(within), all)
	from := end.Add(-time.Duration(int64(365*24*3600-1)*int64(all)/int64(within)) * time.Second)
	storetest.Copies(t, db, "test_runs", all, map[string]string{
		"id": "'01932c21-3e54-7c43-8d85-' || CAST(100000000000 + i AS TEXT)", "scripted": "1 = 0", "experiment": "1 = 0", "trial": "i",
		"result":         "'" + strings.Repeat("x", 1000) + "'", // the length of a typical sealed result
		"scenario_id":    "'01932c20-1c32-7a21-8b63-' || CAST(100000000000 + i % 50 AS TEXT)",
		"pathway_number": "i % 4 + 1", "state": "CASE WHEN i % 11 = 0 THEN 'FAILED' WHEN i % 97 = 0 THEN 'ERROR' ELSE 'PASSED' END",
		"created_at": storetest.Second(db, from, seconds), "summary": "CASE i % 200" + ways.String() + " END",
	})
}

// BenchmarkAnalytics computes the report for a year with 100,000 runs and for a tenth of that year, with and without 300,000 older runs.
func BenchmarkAnalytics(b *testing.B) {
	end := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	for _, name := range []string{"sqlite", "postgres"} {
		for _, outside := range []int{0, 300_000} {
			db := storetest.Open(b, storetest.Databases[name](b))
			fillWindow(b, db, end, 100_000, outside)
			if name == "postgres" { // autovacuum does the same after a while
				if _, err := db.SQL().ExecContext(b.Context(), "VACUUM (PARALLEL 0) test_runs"); err != nil {
					b.Fatal(err)
				}
			}
			store := agentteststore.Store{DB: db}
			for _, days := range slices.Backward([]int{36, 365}) {
				b.Run(fmt.Sprintf("%s/outside%d/days%d", name, outside, days), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						f := analytics.NewFold(end, days)
						err := store.EachEnded(b.Context(), org, run.Window{Pathway: "p1", From: f.From()}, f.Add)
						names := analytics.Names{
							Scenario: func(id string) string { return id }, Node: func(id string) (string, string) { return id, "" },
						}
						if r := f.Report(names); err != nil || r.Total < days*270 {
							b.Fatal(r.Total, err)
						}
					}
				})
			}
		}
	}
}
