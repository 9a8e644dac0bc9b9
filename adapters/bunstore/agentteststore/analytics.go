package agentteststore

import (
	"context"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/stats"
)

// hasEnded is the condition of the partial index test_runs_by_window. SQLite uses the index only if a query contains this exact text.
const hasEnded = "state NOT IN ('PENDING', 'RUNNING') AND NOT experiment"

// endedPage is the number of runs that EachEnded reads with one query.
const endedPage = 5000

// endedRow holds columns of the index test_runs_by_window, so that a query reads only the index.
type endedRow struct {
	id, scenario, state, created, summary string
	number                                int
	scripted                              bool
}

// EachEnded calls f for each ended run of a window that is not an experiment, newest first. It stops after w.Limit runs, unless w.Limit is
// 0. It reads pages of endedPage runs from an index.
func (s Store) EachEnded(
	ctx context.Context, org callwright.OrgID, w run.Window, f func(analytics.Run),
) error {
	rows := make([]endedRow, 0, endedPage)
	for left := w.Limit; ; {
		limit := endedPage
		if w.Limit > 0 {
			limit = min(endedPage, left)
		}
		var after *endedRow
		if n := len(rows); n > 0 {
			last := rows[n-1]
			after = &last
		}
		err := s.core().Read(ctx, []any{org, w.Pathway}, func(ctx context.Context, idb bun.IDB) (err error) {
			rows, err = endedRows(ctx, endedQuery(idb, org, w, after).Limit(int64(limit)), rows[:0])
			return err
		})
		if err != nil {
			return err
		}
		for _, row := range rows {
			run, err := row.run()
			if err != nil {
				return callwright.ErrInternal.Because(err)
			}
			f(run)
		}
		left -= len(rows)
		if len(rows) < endedPage || w.Limit > 0 && left == 0 {
			return nil
		}
	}
}

// endedQuery selects the ended runs of a window, newest first. If after is not nil, it selects only the runs that follow it. It reads times
// as text, because the drivers are slow at parsing the times of 100,000 runs.
func endedQuery(idb bun.IDB, org callwright.OrgID, w run.Window, after *endedRow) *bun.SelectQuery {
	q := idb.NewSelect().Model((*runRow)(nil)).Column("id", "scenario_id", "pathway_number", "state", "summary", "scripted").
		ColumnExpr("CAST(created_at AS TEXT) AS created").
		Where("org = ?", org).Where("pathway_id = ?", w.Pathway).Where(hasEnded).Where("created_at >= ?", sqldb.Stored(w.From))
	if after != nil {
		q = q.Where("(created_at, id) < (?, ?)", after.created, after.id)
	}
	return q.Order("created_at DESC", "id DESC")
}

func endedRows(ctx context.Context, q *bun.SelectQuery, into []endedRow) ([]endedRow, error) {
	rows, err := q.Rows(ctx)
	if err != nil {
		return into, err
	}
	defer rows.Close() // an error of Close does not matter: all rows are read, or reading has failed
	for rows.Next() {
		into = append(into, endedRow{})
		r := &into[len(into)-1]
		if err := rows.Scan(&r.id, &r.scenario, &r.number, &r.state, &r.summary, &r.scripted, &r.created); err != nil {
			return into, err
		}
	}
	return into, rows.Err()
}

// verdicts maps the final states of runs to the states of package stats.
var verdicts = map[string]stats.State{
	string(run.Passed): stats.Passed, string(run.Failed): stats.Failed, string(run.Error): stats.Error,
	string(run.Cancelled): stats.Cancelled,
}

// run converts a row to an analytics.Run. It parses the time as UTC, because both databases write times in UTC.
func (r endedRow) run() (analytics.Run, error) {
	text, _, _ := strings.Cut(r.created, "+")
	at, err := time.Parse("2006-01-02 15:04:05", text)
	return analytics.Run{
		ID: r.id, Scenario: r.scenario, Version: r.number, State: verdicts[r.state], CreatedAt: at,
		Summary: analytics.Summary(r.summary), Scripted: r.scripted,
	}, err
}
