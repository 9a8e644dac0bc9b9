package triagestore

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/triage"
)

// open is the condition of an index. SQLite uses the index only for a condition with these very words.
const open = "status NOT IN ('done', 'closed')"

// FindIssues returns a page of issues.
func (s Store) FindIssues(ctx context.Context, org callwright.OrgID, f triage.Filter) ([]triage.Issue, error) {
	var rows []issueRow
	err := s.core().Read(ctx, []any{org, f}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		query := idb.NewSelect().Model(&rows).ExcludeColumn("description").ExcludeColumn(searched...).
			Where("triage_issues.org = ?", org)
		return sorted(s.chosen(query, f), f).Limit(f.Limit).Scan(ctx)
	})
	return sqldb.Converted(rows, issueRow.issue), err
}

// chosen selects the issues that match the filter, on all pages.
func (s Store) chosen(q *bun.SelectQuery, f triage.Filter) *bun.SelectQuery {
	if len(f.Statuses) > 0 {
		q = q.Where("status IN (?)", bun.List(f.Statuses))
		if !slices.ContainsFunc(f.Statuses, func(s triage.Status) bool { return !s.Open() }) {
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

// dateColumn returns the column of a time of an issue.
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

// sorted orders issues and skips the earlier pages.
func sorted(q *bun.SelectQuery, f triage.Filter) *bun.SelectQuery {
	column, place := dateColumn(f.Sort), any(time.UnixMicro(f.After.Value).UTC())
	switch f.Sort {
	case triage.SortSeverity:
		column, place = "severity_rank", f.After.Value
	case triage.SortStatus:
		column, place = "status_rank", f.After.Value
	default:
	}
	direction, beyond := bun.Safe("DESC"), bun.Safe("<")
	if f.Ascending {
		direction, beyond = "ASC", ">"
	}
	if f.After != (triage.Place{}) {
		q = q.Where("(?, id) ? (?, ?)", bun.Ident(column), beyond, place, f.After.ID)
	}
	return q.OrderExpr("? ?1, id ?1", bun.Ident(column), direction)
}
