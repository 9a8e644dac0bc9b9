package triagestore

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
)

// DeleteIssue deletes an issue and all of its parts, or returns CodeNotFound if the issue is absent. It executes one statement for each
// table. Each statement uses an index of the issue.
func (s Store) DeleteIssue(ctx context.Context, org callwright.OrgID, id string) error {
	return s.DB.Do(ctx, func(ctx context.Context) error {
		return s.core().Write(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
			// Without this lock, a concurrent transaction could commit a part of the issue after the deletion from the table of that part.
			// PostgreSQL would then fail to delete the issue.
			lock := idb.NewSelect().Model((*issueRow)(nil)).Column("id").Where("id = ?", id).Where("org = ?", org)
			var locked string
			if err := sqldb.Absent("issue", s.core().ForDelete(lock).Scan(ctx, &locked)); err != nil {
				return err
			}
			for _, part := range []any{
				(*feedRow)(nil), (*commentRow)(nil), (*resourceRow)(nil), (*flagRow)(nil), (*sessionRow)(nil),
				(*reportRow)(nil), (*viewRow)(nil),
			} {
				if _, err := idb.NewDelete().Model(part).Where("issue_id = ?", id).Exec(ctx); err != nil {
					return err
				}
			}
			related := idb.NewDelete().Model((*relationRow)(nil)).Where("from_id = ?0 OR to_id = ?0", id)
			if _, err := related.Exec(ctx); err != nil {
				return err
			}
			_, err := idb.NewDelete().Model((*issueRow)(nil)).Where("id = ?", id).Exec(ctx)
			return err
		})
	})
}
