package triagestore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/triage"
)

type reportRow struct {
	bun.BaseModel `bun:"table:triage_reports"`

	Org     string `bun:"org,pk"`
	Key     string `bun:"key,pk"`
	IssueID string `bun:"issue_id"`
}

// ReportedIssue returns the id of the issue to which the reports with a key belong, or CodeNotFound if there is none.
func (s Store) ReportedIssue(ctx context.Context, org callwright.OrgID, key string) (string, error) {
	var row reportRow
	err := s.core().Read(ctx, []any{org, key}, func(ctx context.Context, idb bun.IDB) error {
		query := idb.NewSelect().Model(&row).Where("org = ?", org).Where("key = ?", key)
		return sqldb.Absent("report", query.Scan(ctx))
	})
	return row.IssueID, err
}

// PointReports assigns the reports with the given key to the issue with the id to. The argument from is the id of their present issue, or
// empty if the key is new. PointReports waits for concurrent calls with the same key. It returns CodeConflict if the reports do not belong
// to the present issue that the caller states, or if the key is stated as new but exists.
func (s Store) PointReports(ctx context.Context, org callwright.OrgID, key, from, to string) error {
	row := reportRow{Org: string(org), Key: key, IssueID: to}
	if from == "" {
		return s.core().Insert(ctx, row, &row)
	}
	return s.core().Write(ctx, []any{row, from}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewUpdate().Model(&row).WherePK().Where("issue_id = ?", from).Exec(ctx)
		return sqldb.Changed(result, err, callwright.ErrConflict)
	})
}

// MoveReports assigns all reports of one issue (from) to another (to).
func (s Store) MoveReports(ctx context.Context, org callwright.OrgID, from, to string) error {
	return s.core().Write(ctx, []any{org, from, to}, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewUpdate().Model((*reportRow)(nil)).Set("issue_id = ?", to).
			Where("issue_id = ?", from).Where("org = ?", org).Exec(ctx)
		return err
	})
}

type viewRow struct {
	bun.BaseModel `bun:"table:triage_views,alias:triage_views"`

	Org     string    `bun:"org,pk"`
	Viewer  string    `bun:"viewer,pk"`
	IssueID string    `bun:"issue_id,pk"`
	SeenAt  time.Time `bun:"seen_at"`
}

// MarkSeen records that a viewer has seen an issue until the given time, unless a later time is stored.
func (s Store) MarkSeen(ctx context.Context, org callwright.OrgID, viewer, issue string, until time.Time) error {
	row := viewRow{Org: string(org), Viewer: viewer, IssueID: issue, SeenAt: sqldb.Stored(until)}
	return s.core().Write(ctx, []any{row}, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewInsert().Model(&row).On("CONFLICT (org, viewer, issue_id) DO UPDATE").
			Set("seen_at = EXCLUDED.seen_at").Where("triage_views.seen_at < EXCLUDED.seen_at").Returning("NULL").Exec(ctx)
		return err
	})
}

// Seen returns the times until which a viewer has seen the given issues, by id. It omits issues that the viewer has not seen.
func (s Store) Seen(
	ctx context.Context, org callwright.OrgID, viewer string, issues []string,
) (map[string]time.Time, error) {
	var rows []viewRow
	err := s.core().Read(ctx, []any{org, viewer, issues}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return idb.NewSelect().Model(&rows).Where("org = ?", org).Where("viewer = ?", viewer).
			Where("issue_id IN (?)", bun.List(issues)).Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	seen := make(map[string]time.Time, len(rows))
	for _, row := range rows {
		seen[row.IssueID] = row.SeenAt.UTC()
	}
	return seen, nil
}

var _ triage.Store = Store{}
