package triagestore

import (
	"context"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/triage"
)

// open is the condition of a partial index. SQLite uses the index only if a query contains this exact text.
const open = "status NOT IN ('done', 'closed')"

// FindIssues returns a page of issues in the order of the filter, without their descriptions.
func (s Store) FindIssues(ctx context.Context, org callwright.OrgID, f triage.Filter) ([]triage.Issue, error) {
	var rows []issueRow
	err := s.core().Read(ctx, []any{org, f}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		query := idb.NewSelect().Model(&rows).ExcludeColumn("description").ExcludeColumn(searched...).
			Where("triage_issues.org = ?", org)
		return sorted(s.chosen(query, f), f).Limit(int64(f.Limit)).Scan(ctx)
	})
	return sqldb.Converted(rows, issueRow.issue), err
}

// Reach returns the place of the last issue that a page may examine because of f.Scan. It returns the zero Place if no more than f.Scan
// issues are left.
func (s Store) Reach(ctx context.Context, org callwright.OrgID, f triage.Filter) (last triage.Place, err error) {
	var rows []issueRow
	err = s.core().Read(ctx, []any{org, f}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		column, _ := order(f)
		query := idb.NewSelect().Model(&rows).Column("id", strings.TrimSuffix(column, "_rank")).Where("triage_issues.org = ?", org)
		if f.ReachesOpen() {
			query = query.Where(open)
		}
		return sorted(query, f).Offset(int64(f.Scan - 1)).Limit(2).Scan(ctx)
	})
	if err != nil || len(rows) < 2 {
		return triage.Place{}, err
	}
	return rows[0].issue().Place(f.Sort), nil
}

// chosen restricts a query to the issues that match the filter, on all pages.
func (s Store) chosen(q *bun.SelectQuery, f triage.Filter) *bun.SelectQuery {
	if len(f.Statuses) > 0 {
		q = q.Where("status IN (?)", bun.List(f.Statuses))
		if f.OnlyOpen() {
			q = q.Where(open)
		}
	}
	if len(f.Severities) > 0 {
		q = q.Where("severity IN (?)", bun.List(f.Severities))
	}
	if len(f.Categories) > 0 {
		q = q.Where("category IN (?)", bun.List(f.Categories))
	}
	if f.OwnerID != "" {
		q = q.Where("owner_id = ?", f.OwnerID)
	}
	if f.AssigneeID != "" {
		q = q.Where("assignee_id = ?", f.AssigneeID)
	}
	if f.Unassigned {
		q = q.Where("assignee_id = ''")
	}
	if !f.Since.IsZero() {
		q = q.Where("? >= ?", bun.Ident(dateColumn(f.DateField)), sqldb.Stored(f.Since))
	}
	if f.Resource != "" {
		attached := q.NewSelect().Model((*resourceRow)(nil)).ColumnExpr("1").
			Where("issue_id = triage_issues.id").Where("type = ?", f.Resource)
		q = q.Where("EXISTS (?)", attached)
	}
	if f.Search != "" {
		text := strings.ToLower(f.Search)
		q = q.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
			return q.Where(s.core().Contains(), bun.Ident("search_title"), text).
				WhereOr(s.core().Contains(), bun.Ident("search_text"), text).WhereOr("'t-' || number = ?", text)
		})
	}
	return q
}

// dateColumn returns the column of the time that a sort field names. The default is the last activity.
func dateColumn(f triage.SortField) string {
	switch f {
	case triage.SortCreated:
		return "created_at"
	case triage.SortUpdated:
		return "updated_at"
	default:
		return "last_activity_at"
	}
}

// order returns the column by which a filter orders issues, and a function that returns the column's value at a place.
func order(f triage.Filter) (column string, value func(triage.Place) any) {
	switch f.Sort {
	case triage.SortSeverity:
		return "severity_rank", func(p triage.Place) any { return p.Value }
	case triage.SortStatus:
		return "status_rank", func(p triage.Place) any { return p.Value }
	default:
		return dateColumn(f.Sort), func(p triage.Place) any { return time.UnixMicro(p.Value).UTC() }
	}
}

// sorted orders the issues of a query, skips the issues up to f.After, and excludes the issues beyond f.Until.
func sorted(q *bun.SelectQuery, f triage.Filter) *bun.SelectQuery {
	column, value := order(f)
	direction, beyond, within := bun.Safe("DESC"), bun.Safe("<"), bun.Safe(">=")
	if f.Ascending {
		direction, beyond, within = "ASC", ">", "<="
	}
	if f.After != (triage.Place{}) {
		q = q.Where("(?, id) ? (?, ?)", bun.Ident(column), beyond, value(f.After), f.After.ID)
	}
	if f.Until != (triage.Place{}) {
		q = q.Where("(?, id) ? (?, ?)", bun.Ident(column), within, value(f.Until), f.Until.ID)
	}
	return q.OrderExpr("? ?1, id ?1", bun.Ident(column), direction)
}
