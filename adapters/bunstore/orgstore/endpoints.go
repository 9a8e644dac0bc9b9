package orgstore

import (
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/delivery"
)

// Endpoints stores the endpoints of webhooks; it implements delivery.EndpointStore.
type Endpoints struct{ DB *bunstore.DB }

func (s Endpoints) rows() sqldb.Rows[delivery.Endpoint, endpointRow] {
	return sqldb.Rows[delivery.Endpoint, endpointRow]{
		DB: s.DB.Core(), Kind: "endpoint", Row: sqldb.Plain(newEndpointRow), Value: sqldb.Plain(endpointRow.endpoint),
	}
}

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

func newEndpointRow(e delivery.Endpoint) endpointRow {
	return endpointRow{
		Org: string(e.Org), Host: e.Host, Since: sqldb.Stored(e.Since), Failures: e.Failures, Failure: e.Failure, LastAt: sqldb.Stored(e.Last),
		PausedAt: sqldb.StoredIfSet(e.PausedAt), TrialAt: sqldb.StoredIfSet(e.TrialAt), Version: e.Version,
	}
}

// Endpoint returns the endpoint of a host, or CodeNotFound if it is absent.
func (s Endpoints) Endpoint(ctx context.Context, org callwright.OrgID, host string) (delivery.Endpoint, error) {
	return s.rows().Find(ctx, org, host)
}

// StoreEndpoint inserts an endpoint of version 0, and replaces an endpoint of any other version. It returns CodeConflict if the endpoint to
// insert exists, or if the endpoint to replace is absent or has another version.
func (s Endpoints) StoreEndpoint(ctx context.Context, e delivery.Endpoint) error {
	if e.Version == 0 {
		return s.rows().Insert(ctx, e)
	}
	err := s.rows().Replace(ctx, e)
	if errors.Is(err, callwright.ErrNotFound) {
		return callwright.ErrConflict
	}
	return err
}

// DeleteEndpoint deletes the endpoint of a host. It returns nil if the endpoint is absent.
func (s Endpoints) DeleteEndpoint(ctx context.Context, org callwright.OrgID, host string) error {
	return s.rows().Delete(ctx, org, host)
}

// PausedEndpoints returns up to limit paused endpoints of an organization, ordered by host.
func (s Endpoints) PausedEndpoints(ctx context.Context, org callwright.OrgID, limit int) ([]delivery.Endpoint, error) {
	return s.rows().Select(ctx, []any{org}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("org = ?", org).Where("paused_at IS NOT NULL").Order("host").Limit(int64(max(limit, 1)))
	})
}
