package bunstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/node"
)

// Leases stores the leases of nodes; it implements node.Leases.
type Leases struct{ DB *DB }

type leaseRow struct {
	bun.BaseModel `bun:"table:leases,alias:leases"`

	Kind      string    `bun:"kind,pk"`
	Key       string    `bun:"key,pk"`
	Node      string    `bun:"node"`
	Fence     int64     `bun:"fence"`
	RenewedAt time.Time `bun:"renewed_at"`
	ExpiresAt time.Time `bun:"expires_at"`
}

func (r leaseRow) value() node.Lease {
	return node.Lease{
		Kind: r.Kind, Key: r.Key, Node: r.Node, Fence: r.Fence, RenewedAt: r.RenewedAt.UTC(), ExpiresAt: r.ExpiresAt.UTC(),
	}
}

// byKey converts rows to leases and sorts them by key, because RETURNING guarantees no order.
func byKey(rows []leaseRow) []node.Lease {
	slices.SortFunc(rows, func(a, b leaseRow) int { return cmp.Compare(a.Key, b.Key) })
	return sqldb.Converted(rows, leaseRow.value)
}

// Claim claims those of the given keys that are free, expired or already held by the node, and returns their leases sorted by key. It
// inserts them in sorted order, so that two nodes do not deadlock.
func (s Leases) Claim(
	ctx context.Context, kind, node string, keys []string, now, until time.Time,
) ([]node.Lease, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	now, until = sqldb.Stored(now), sqldb.Stored(until)
	var wanted, taken []leaseRow
	for _, key := range slices.Compact(slices.Sorted(slices.Values(keys))) {
		wanted = append(wanted, leaseRow{
			Kind: kind, Key: key, Node: node, Fence: now.UnixMicro(), RenewedAt: now, ExpiresAt: until,
		})
	}
	err := s.DB.core.Write(ctx, []any{kind, node, keys}, func(ctx context.Context, idb bun.IDB) error {
		taken = nil
		_, err := idb.NewInsert().Model(&wanted).On("CONFLICT (kind, key) DO UPDATE").
			Set("fence = CASE WHEN leases.node = EXCLUDED.node AND leases.expires_at > ? THEN leases.fence ELSE leases.fence + 1 END", now).
			Set("node = EXCLUDED.node").Set("renewed_at = EXCLUDED.renewed_at").Set("expires_at = EXCLUDED.expires_at").
			Where("leases.node = EXCLUDED.node OR leases.expires_at <= ?", now).
			Returning("*").Exec(ctx, &taken)
		return err
	})
	return byKey(taken), err
}

// Renew extends all leases of a kind that the node holds, even expired ones, and returns them sorted by key.
func (s Leases) Renew(ctx context.Context, kind, node string, now, until time.Time) ([]node.Lease, error) {
	var rows []leaseRow
	err := s.DB.core.Write(ctx, []any{kind, node}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		_, err := idb.NewUpdate().Model((*leaseRow)(nil)).
			Set("renewed_at = ?", sqldb.Stored(now)).Set("expires_at = ?", sqldb.Stored(until)).
			Where("kind = ?", kind).Where("node = ?", node).Returning("*").Exec(ctx, &rows)
		return err
	})
	return byKey(rows), err
}

// Release deletes the node's leases of the given keys. It ignores keys that the node does not hold.
func (s Leases) Release(ctx context.Context, kind, node string, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	return s.DB.core.Write(ctx, []any{kind, node, keys}, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewDelete().Model((*leaseRow)(nil)).
			Where("kind = ?", kind).Where("key IN (?)", bun.List(keys)).Where("node = ?", node).Exec(ctx)
		return err
	})
}

// Held returns up to limit unexpired leases of a kind, in descending order of their expiry.
func (s Leases) Held(ctx context.Context, kind string, now time.Time, limit int) ([]node.Lease, error) {
	return s.find(ctx, kind, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("expires_at > ?", sqldb.Stored(now)).Order("expires_at DESC", "key DESC").Limit(int64(limit))
	})
}

// Expired returns up to limit expired leases of a kind, in ascending order of their expiry.
func (s Leases) Expired(ctx context.Context, kind string, now time.Time, limit int) ([]node.Lease, error) {
	return s.find(ctx, kind, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("expires_at <= ?", sqldb.Stored(now)).Order("expires_at", "key").Limit(int64(limit))
	})
}

func (s Leases) find(
	ctx context.Context, kind string, choose func(*bun.SelectQuery) *bun.SelectQuery,
) ([]node.Lease, error) {
	var rows []leaseRow
	err := s.DB.core.Read(ctx, []any{kind}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return choose(idb.NewSelect().Model(&rows).Where("kind = ?", kind)).Scan(ctx)
	})
	return sqldb.Converted(rows, leaseRow.value), err
}
