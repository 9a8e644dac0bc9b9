package triagestore

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
)

// part reads a row of a kind that belongs to an issue.
func (s Store) part(ctx context.Context, kind string, row any, org callwright.OrgID, issue, id string) error {
	return s.core().Read(ctx, []any{org, issue, id}, func(ctx context.Context, idb bun.IDB) error {
		query := idb.NewSelect().Model(row).Where("id = ?", id).Where("issue_id = ?", issue).Where("org = ?", org)
		return sqldb.Absent(kind, query.Scan(ctx))
	})
}

// parts returns the rows of an issue.
func parts[Row any](
	ctx context.Context, s Store, org callwright.OrgID, issue string, where ...string,
) (rows []Row, err error) {
	err = s.core().Read(ctx, []any{org, issue}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		query := idb.NewSelect().Model(&rows).Where("issue_id = ?", issue).Where("org = ?", org)
		for _, condition := range where {
			query = query.Where(condition)
		}
		return query.Order("created_at", "id").Scan(ctx)
	})
	return rows, err
}

// deletePart deletes a row of a kind that belongs to an issue. row only determines the table.
func (s Store) deletePart(ctx context.Context, kind string, row any, org callwright.OrgID, issue, id string) error {
	return s.core().Write(ctx, []any{org, issue, id}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewDelete().Model(row).
			Where("id = ?", id).Where("issue_id = ?", issue).Where("org = ?", org).Exec(ctx)
		return sqldb.Changed(result, err, callwright.NotFound(kind))
	})
}
