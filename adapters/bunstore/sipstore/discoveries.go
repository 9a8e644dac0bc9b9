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

// Discoveries stores discoveries of SIP servers; it implements discovery.Store.
type Discoveries struct{ DB *bunstore.DB }

func (s Discoveries) rows() sqldb.Rows[discovery.Discovery, discoveryRow] {
	return sqldb.Rows[discovery.Discovery, discoveryRow]{
		DB: s.DB.Core(), Kind: "discovery", Row: sqldb.Plain(newDiscoveryRow), Value: sqldb.Plain(discoveryRow.discovery),
	}
}

// Begin adds a discovery. It returns callwright.ErrDiscoveryInProgress if the organization has a running discovery that started after the
// given time.
func (s Discoveries) Begin(ctx context.Context, d discovery.Discovery, stale time.Time) error {
	return s.DB.Do(ctx, func(ctx context.Context) error {
		err := s.rows().DB.Write(ctx, []any{d}, func(ctx context.Context, idb bun.IDB) error {
			if err := s.rows().DB.Alone(ctx, idb, "discovery of "+string(d.Org)); err != nil {
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
		return s.rows().Insert(ctx, d)
	})
}

// Update replaces a discovery. It returns CodeConflict if the stored version differs, and CodeNotFound if the discovery is absent.
func (s Discoveries) Update(ctx context.Context, d discovery.Discovery) error {
	return s.rows().Replace(ctx, d)
}

// Get returns one discovery, or CodeNotFound if it is absent.
func (s Discoveries) Get(ctx context.Context, org callwright.OrgID, id string) (discovery.Discovery, error) {
	return s.rows().Find(ctx, org, id)
}

// Recent returns the newest completed discovery with the organization, host, port and transport of d. It returns CodeNotFound if none was
// completed at or after the given time.
func (s Discoveries) Recent(ctx context.Context, d discovery.Discovery, since time.Time) (discovery.Discovery, error) {
	return s.rows().One(ctx, []any{d}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("org = ?", d.Org).Where("host = ?", d.Host).Where("port = ?", d.Port).
			Where("transport = ?", d.Transport).Where("status = ?", discovery.Completed).
			Where("completed_at >= ?", since).Order("completed_at DESC").Limit(1)
	})
}

// DeleteOld deletes all discoveries that started before the given time.
func (s Discoveries) DeleteOld(ctx context.Context, before time.Time) error {
	return s.rows().DeleteWhere(ctx, "started_at < ?", before)
}
