package portingstore

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/porting"
)

// The conditions of the partial indexes of requests. SQLite uses an index only if a query contains its exact condition.
const (
	open    = "state IN ('waiting_for_signature', 'submitted', 'in_progress')"
	ordered = "ref <> ''"
	waiting = "state = 'waiting_for_signature' OR held_since IS NOT NULL"
)

// Requests returns a page of an organization's requests, newest first.
func (s Requests) Requests(ctx context.Context, org callwright.OrgID, f porting.Filter) ([]porting.Request, error) {
	if f.Limit <= 0 {
		return nil, nil
	}
	states := slices.Compact(slices.Sorted(slices.Values(f.States)))
	return s.rows().Select(ctx, []any{org, f}, func(q *bun.SelectQuery) *bun.SelectQuery {
		switch len(states) {
		case 0:
			return after(q.Where("org = ?", org), f)
		case 1:
			return after(inState(q, org, states[0]), f)
		default:
			return newest(q.Where("id IN (?)", idsInStates(q, org, states, f)), f.Limit)
		}
	})
}

// inState restricts a query to requests in a state. These requests are a range of an index, in the order of a page.
func inState(q *bun.SelectQuery, org callwright.OrgID, state porting.State) *bun.SelectQuery {
	return q.Where("org = ?", org).Where("state = ?", state)
}

// after restricts a query to the newest f.Limit requests after f.After.
func after(q *bun.SelectQuery, f porting.Filter) *bun.SelectQuery {
	if !f.After.IsZero() {
		q = q.Where("(created_at, id) < (?, ?)", sqldb.Stored(f.After.At), f.After.ID)
	}
	return newest(q, f.Limit)
}

func newest(q *bun.SelectQuery, limit int) *bun.SelectQuery {
	return q.Order("created_at DESC", "id DESC").Limit(int64(limit))
}

// idsInStates returns a query for the ids of a page of requests in one of several states. It combines a page for each state, each of which
// is a range of an index, and selects the newest.
func idsInStates(q *bun.SelectQuery, org callwright.OrgID, states []porting.State, f porting.Filter) *bun.SelectQuery {
	parts := make([]any, len(states))
	for i, state := range states {
		parts[i] = after(inState(q.NewSelect().Model((*requestRow)(nil)).Column("id", "created_at"), org, state), f)
	}
	union := strings.Repeat(" UNION ALL SELECT id, created_at FROM (?) AS part", len(parts))
	pages := bun.SafeQuery(strings.TrimPrefix(union, " UNION ALL "), parts...)
	return newest(q.NewSelect().TableExpr("(?) AS pages", pages).Column("id"), f.Limit)
}

// WaitingRequests returns up to limit requests that wait for a signature or are on hold, oldest first.
func (s Requests) WaitingRequests(ctx context.Context, org callwright.OrgID, limit int) ([]porting.Request, error) {
	if limit <= 0 {
		return nil, nil
	}
	return s.rows().Select(ctx, []any{org}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("org = ?", org).Where(waiting).Order("created_at", "id").Limit(int64(limit))
	})
}

// CountOpen returns the number of an organization's requests that have not ended.
func (s Requests) CountOpen(ctx context.Context, org callwright.OrgID) (count int, err error) {
	err = s.core().Read(ctx, []any{org}, func(ctx context.Context, idb bun.IDB) (err error) {
		count, err = sqldb.Count(ctx, idb.NewSelect().Model((*requestRow)(nil)).Where("org = ?", org).Where(open))
		return err
	})
	return count, err
}

// ActiveNumbers returns the given numbers that an open request already uses.
func (s Requests) ActiveNumbers(
	ctx context.Context, numbers []callwright.PhoneNumber,
) (taken []callwright.PhoneNumber, err error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	err = s.core().Read(ctx, []any{numbers}, func(ctx context.Context, idb bun.IDB) error {
		taken = nil
		return idb.NewSelect().Model((*openNumberRow)(nil)).Column("number").Where("number IN (?)", bun.List(numbers)).Scan(ctx, &taken)
	})
	return taken, err
}

// nameRow holds the columns that identify a request. The index of due requests contains both of them.
type nameRow struct {
	bun.BaseModel `bun:"table:port_requests,alias:request"`

	Org string `bun:"org"`
	ID  string `bun:"id"`
}

// OpenRequest returns the name of the open request that contains a number, or CodeNotFound if none does.
func (s Requests) OpenRequest(ctx context.Context, number callwright.PhoneNumber) (porting.Name, error) {
	var row nameRow
	err := s.core().Read(ctx, []any{number}, func(ctx context.Context, idb bun.IDB) error {
		taken := idb.NewSelect().Model((*openNumberRow)(nil)).Column("request_id").Where("number = ?", number)
		return sqldb.Absent("port request", idb.NewSelect().Model(&row).Where("id = (?)", taken).Scan(ctx))
	})
	if err != nil {
		return porting.Name{}, err
	}
	return row.name(), nil
}

func (r nameRow) name() porting.Name { return porting.Name{Org: callwright.OrgID(r.Org), ID: r.ID} }

// DueRequests returns the names of up to limit requests that are due at the given time, in the order of their due times. It reads only an
// index.
func (s Requests) DueRequests(ctx context.Context, now time.Time, limit int) (names []porting.Name, err error) {
	if limit <= 0 {
		return nil, nil
	}
	var rows []nameRow
	err = s.core().Read(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return idb.NewSelect().Model(&rows).Where("due_at <= ?", sqldb.Stored(now)).
			Order("due_at", "id").Limit(int64(limit)).Scan(ctx)
	})
	return sqldb.Converted(rows, nameRow.name), err
}
