package orgstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/delivery"
)

// Endpoints is a delivery.EndpointStore.
type Endpoints struct{ DB *bunstore.DB }

func (s Endpoints) core() core { return core{s.DB.Core()} }

type endpointRow struct {
	bun.BaseModel `bun:"table:endpoints,alias:endpoints"`

	Org      string     `bun:"org,pk"`
	Host     string     `bun:"host,pk"`
	Since    time.Time  `bun:"since"`
	Failures int        `bun:"failures"`
	Failure  string     `bun:"failure"`
	LastAt   time.Time  `bun:"last_at"`
	PausedAt *time.Time `bun:"paused_at"`
	TrialAt  *time.Time `bun:"trial_at"`
	Version  int64      `bun:"version"`
}

func (r endpointRow) endpoint() delivery.Endpoint {
	return delivery.Endpoint{
		Org: callwright.OrgID(r.Org), Host: r.Host, Since: r.Since.UTC(), Failures: r.Failures, Failure: r.Failure, Last: r.LastAt.UTC(),
		PausedAt: sqldb.StoredIfSet(r.PausedAt), TrialAt: sqldb.StoredIfSet(r.TrialAt), Version: r.Version,
	}
}

// Endpoint returns an endpoint.
func (s Endpoints) Endpoint(ctx context.Context, org callwright.OrgID, host string) (delivery.Endpoint, error) {
	var rows []endpointRow
	err := s.core().Read(ctx, []any{org, host}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return idb.NewSelect().Model(&rows).Where("org = ?", org).Where("host = ?", host).Scan(ctx)
	})
	if err == nil && len(rows) == 0 {
		err = callwright.NotFound("endpoint")
	}
	if err != nil {
		return delivery.Endpoint{}, err
	}
	return rows[0].endpoint(), nil
}

// StoreEndpoint adds or replaces an endpoint.
func (s Endpoints) StoreEndpoint(ctx context.Context, e delivery.Endpoint) error {
	row := endpointRow{
		Org: string(e.Org), Host: e.Host, Since: sqldb.Stored(e.Since), Failures: e.Failures, Failure: e.Failure, LastAt: sqldb.Stored(e.Last),
		PausedAt: sqldb.StoredIfSet(e.PausedAt), TrialAt: sqldb.StoredIfSet(e.TrialAt), Version: e.Version + 1,
	}
	if e.Version == 0 {
		return s.core().Insert(ctx, e, &row)
	}
	return s.core().Write(ctx, []any{e}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewUpdate().Model(&row).WherePK().Where("version = ?", e.Version).Exec(ctx)
		return sqldb.Changed(result, err, callwright.ErrConflict)
	})
}

// DeleteEndpoint deletes an endpoint.
func (s Endpoints) DeleteEndpoint(ctx context.Context, org callwright.OrgID, host string) error {
	return s.core().Write(ctx, []any{org, host}, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewDelete().Model((*endpointRow)(nil)).Where("org = ?", org).Where("host = ?", host).Exec(ctx)
		return err
	})
}

// PausedEndpoints returns the endpoints of an organization that are paused.
func (s Endpoints) PausedEndpoints(ctx context.Context, org callwright.OrgID, limit int) ([]delivery.Endpoint, error) {
	var rows []endpointRow
	err := s.core().Read(ctx, []any{org}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return idb.NewSelect().Model(&rows).Where("org = ?", org).Where("paused_at IS NOT NULL").
			Order("host").Limit(int64(max(limit, 1))).Scan(ctx)
	})
	return sqldb.Converted(rows, endpointRow.endpoint), err
}
