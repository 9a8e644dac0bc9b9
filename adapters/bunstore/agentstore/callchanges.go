package agentstore

import (
	"cmp"
	"context"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agents/call"
)

// Revisions returns the ids and versions of a page of calls. It reads only these columns.
func (s Calls) Revisions(ctx context.Context, org callwright.OrgID, f call.Filter) ([]call.Revision, error) {
	var rows []callRow
	err := s.core().Read(ctx, []any{org, f}, func(ctx context.Context, idb bun.IDB) error {
		horizon, err := scanned(ctx, idb, org, f)
		if err != nil {
			return err
		}
		rows = nil
		q := idb.NewSelect().Model(&rows).Column("id", "version")
		return pageOf(within(matching(q, org, f), f, horizon), f).Limit(int64(cmp.Or(f.Limit, call.MaxPage))).Scan(ctx)
	})
	return sqldb.Converted(rows, func(r callRow) call.Revision { return call.Revision{ID: r.ID, Version: r.Version} }), err
}

// Position returns the version of a call, its last transcript line (0 if there is none), its last turn that has a log (-1 if there is
// none), and whether the call is marked to be stopped.
func (s Calls) Position(ctx context.Context, org callwright.OrgID, id string) (p call.Position, err error) {
	err = s.core().Read(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		q := findCall(idb, org, id).Column("version", "stop_requested").
			ColumnExpr("coalesce((SELECT max(seq) FROM transcript_entries WHERE call_id = ?), 0)", id).
			ColumnExpr("coalesce((SELECT max(turn) FROM call_logs WHERE call_id = ?), -1)", id)
		return sqldb.Absent("call", q.Scan(ctx, &p.Version, &p.StopRequested, &p.Line, &p.Turn))
	})
	return p, err
}
