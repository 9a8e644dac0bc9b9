package sipstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/sip/discovery"
)

// Discoveries is a discovery.Store.
type Discoveries struct{ DB *bunstore.DB }

func (s Discoveries) core() core { return core{s.DB.Core()} }

// Begin adds a discovery, unless another one of the organization runs.
func (s Discoveries) Begin(ctx context.Context, d discovery.Discovery, stale time.Time) error {
	d.Version = 1
	row := newDiscoveryRow(d)
	return s.DB.Do(ctx, func(ctx context.Context) error {
		err := s.core().Write(ctx, []any{d}, func(ctx context.Context, idb bun.IDB) error {
			if err := s.core().Alone(ctx, idb, "discovery of "+row.Org); err != nil {
				return err
			}
			running, err := idb.NewSelect().Model((*discoveryRow)(nil)).
				Where("org = ?", d.Org).Where("status = ?", discovery.Running).Where("started_at > ?", stale).Exists(ctx)
			if err == nil && running {
				err = callwright.ErrDiscoveryInProgress
			}
			return err
		})
		if err != nil {
			return err
		}
		return s.core().Insert(ctx, d, &row)
	})
}

// Update replaces a discovery.
func (s Discoveries) Update(ctx context.Context, d discovery.Discovery) error {
	row := newDiscoveryRow(d)
	return s.core().Write(ctx, []any{d}, func(ctx context.Context, idb bun.IDB) error {
		update := idb.NewUpdate().Model(&row).WherePK().Where("org = ?", d.Org)
		find := idb.NewSelect().Model((*discoveryRow)(nil)).Where("id = ?", d.ID).Where("org = ?", d.Org)
		return sqldb.Replace(ctx, "discovery", update, d.Version, find)
	})
}

// Get returns one discovery.
func (s Discoveries) Get(ctx context.Context, org callwright.OrgID, id string) (discovery.Discovery, error) {
	return s.find(ctx, []any{org, id}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("id = ?", id).Where("org = ?", org)
	})
}

// Recent returns the newest completed discovery of the same host, port and transport.
func (s Discoveries) Recent(
	ctx context.Context, d discovery.Discovery, since time.Time,
) (discovery.Discovery, error) {
	return s.find(ctx, []any{d}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("org = ?", d.Org).Where("host = ?", d.Host).Where("port = ?", d.Port).
			Where("transport = ?", d.Transport).Where("status = ?", discovery.Completed).
			Where("completed_at >= ?", since).Order("completed_at DESC").Limit(1)
	})
}

// find returns the one discovery that a query selects.
func (s Discoveries) find(
	ctx context.Context, inputs []any, choose func(*bun.SelectQuery) *bun.SelectQuery,
) (discovery.Discovery, error) {
	var row discoveryRow
	err := s.core().Read(ctx, inputs, func(ctx context.Context, idb bun.IDB) error {
		return sqldb.Absent("discovery", choose(idb.NewSelect().Model(&row)).Scan(ctx))
	})
	if err != nil {
		return discovery.Discovery{}, err
	}
	return row.discovery(), nil
}

// DeleteOld deletes old discoveries.
func (s Discoveries) DeleteOld(ctx context.Context, before time.Time) error {
	return s.core().Write(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewDelete().Model((*discoveryRow)(nil)).Where("started_at < ?", before).Exec(ctx)
		return err
	})
}
