package triagestore

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
)

// part returns the row with the given id as a value, or CodeNotFound if the issue has no such row.
func part[V, R any](ctx context.Context, rows sqldb.Rows[V, R], org callwright.OrgID, issue, id string) (V, error) {
	return rows.One(ctx, []any{org, issue, id}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("id = ?", id).Where("issue_id = ?", issue).Where("org = ?", org)
	})
}

// parts returns the values of an issue that match all conditions in where, oldest first.
func parts[V, R any](ctx context.Context, rows sqldb.Rows[V, R], org callwright.OrgID, issue string, where ...string) ([]V, error) {
	return rows.Select(ctx, []any{org, issue}, func(q *bun.SelectQuery) *bun.SelectQuery {
		q = q.Where("issue_id = ?", issue).Where("org = ?", org)
		for _, condition := range where {
			q = q.Where(condition)
		}
		return q.Order("created_at", "id")
	})
}

// deletePart deletes the row with the given id, or returns CodeNotFound if the issue has no such row.
func deletePart[V, R any](ctx context.Context, rows sqldb.Rows[V, R], org callwright.OrgID, issue, id string) error {
	return rows.DB.Write(ctx, []any{org, issue, id}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewDelete().Model((*R)(nil)).
			Where("id = ?", id).Where("issue_id = ?", issue).Where("org = ?", org).Exec(ctx)
		return sqldb.Changed(result, err, callwright.NotFound(rows.Kind))
	})
}
