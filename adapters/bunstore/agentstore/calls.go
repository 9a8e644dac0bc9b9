package agentstore

import (
	"cmp"
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agents/call"
)

// Calls stores calls; it implements call.Store.
type Calls struct{ DB *bunstore.DB }

func (s Calls) core() core { return core{s.DB.Core()} }

func (s Calls) rows() sqldb.Rows[call.Call, callRow] {
	return sqldb.Rows[call.Call, callRow]{
		DB: s.DB.Core(), Kind: "call", Row: sqldb.Plain(newCallRow), Value: s.core().call, Fixed: fixed,
	}
}

// live is the condition of a partial index. SQLite uses the index only if a query contains this exact text.
const live = "queue IN ('allocated', 'started')"

// fixed lists the columns that Update does not write: the request, the keys, and the columns that other methods write. Update therefore
// leaves most indexes unchanged.
var fixed = []string{
	"id", "org", "inbound", "from_number", "to_number", "agent", "pathway_id", "pathway_environment", "pathway_version",
	"start_node", "agent_requests", "plan", "request_data", "metadata", "created_at", "start_at", "retry_of",
	"stop_requested",
}

// Insert adds a call and seals the secrets of its agent (agentSecretsJSON). It returns CodeConflict if the id exists.
func (s Calls) Insert(ctx context.Context, c call.Call) error {
	rows := s.rows()
	rows.Row = func(c call.Call) (callRow, error) {
		row := newCallRow(c)
		row.agentColumns = s.core().agentColumns(callAgentPurpose(c.Org, c.ID), c.Agent)
		return row, nil
	}
	return rows.Insert(ctx, c)
}

// Get returns one call, or CodeNotFound if it is absent.
func (s Calls) Get(ctx context.Context, org callwright.OrgID, id string) (call.Call, error) {
	return s.rows().Find(ctx, org, id)
}

// Update replaces all columns of a call that are not in fixed. It returns CodeConflict if the stored version is not c.Version, and
// CodeNotFound if the call is absent.
func (s Calls) Update(ctx context.Context, c call.Call) error { return s.rows().Replace(ctx, c) }

func findCall(idb bun.IDB, org callwright.OrgID, id string) *bun.SelectQuery {
	return idb.NewSelect().Model((*callRow)(nil)).Where("id = ?", id).Where("org = ?", org)
}

// List returns a page of calls, and the number of all matching calls unless f.SkipCount is set. It does not read large columns: see
// call.Records.
func (s Calls) List(
	ctx context.Context, org callwright.OrgID, f call.Filter,
) (page callwright.Page[call.Call], total int, err error) {
	var rows []callRow
	var horizon callwright.Keyset
	limit := cmp.Or(f.Limit, call.MaxPage)
	err = s.core().Read(ctx, []any{org, f}, func(ctx context.Context, idb bun.IDB) (err error) {
		if !f.SkipCount {
			if total, err = sqldb.Count(ctx, matching(idb.NewSelect().Model((*callRow)(nil)), org, f)); err != nil {
				return err
			}
		}
		if horizon, err = scanned(ctx, idb, org, f); err != nil {
			return err
		}
		rows = nil
		q := idb.NewSelect().Model(&rows).ExcludeColumn("agent", "agent_requests", "plan", "request_data", "variables", "metadata")
		return pageOf(within(matching(q, org, f), f, horizon), f).Limit(int64(limit + 1)).Scan(ctx)
	})
	if err != nil {
		return page, 0, err
	}
	page.Next = horizon
	if len(rows) > limit {
		rows = rows[:limit]
		last := rows[limit-1]
		page.Next = callwright.Keyset{At: last.CreatedAt.UTC(), ID: last.ID}
	}
	page.Items, err = sqldb.ConvertedAll(rows, s.core().call)
	return page, total, err
}

// RequestStop marks a call to be stopped. It changes nothing if the call has ended, and returns CodeNotFound if the call is absent.
func (s Calls) RequestStop(ctx context.Context, org callwright.OrgID, id string) error {
	return s.core().Write(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewUpdate().Model((*callRow)(nil)).Set("stop_requested = ?", true).
			Where("id = ?", id).Where("org = ?", org).Where("NOT ended").Exec(ctx)
		if err := sqldb.Changed(result, err, callwright.ErrConflict); err != callwright.ErrConflict { //nolint:errorlint // ours
			return err
		}
		return sqldb.Exists(ctx, "call", findCall(idb, org, id))
	})
}

// Stops returns the ids of the node's live calls that are marked to be stopped.
func (s Calls) Stops(ctx context.Context, node string) (stops []string, err error) {
	err = s.core().Read(ctx, []any{node}, func(ctx context.Context, idb bun.IDB) error {
		stops = nil
		return idb.NewSelect().Model((*callRow)(nil)).Column("id").
			Where("node = ?", node).Where(live).Where("stop_requested").Scan(ctx, &stops)
	})
	return stops, err
}

// Lost returns up to limit live calls that their node claimed (TakenAt) at or before the given time, and whose node is not in alive.
func (s Calls) Lost(ctx context.Context, alive []string, before time.Time, limit int) ([]call.Call, error) {
	return s.rows().Select(ctx, []any{alive}, func(q *bun.SelectQuery) *bun.SelectQuery {
		if len(alive) > 0 {
			q = q.Where("node NOT IN (?)", bun.List(alive))
		}
		return q.Where(live).Where("heartbeat <= ?", sqldb.Stored(before)).Limit(int64(limit))
	})
}
