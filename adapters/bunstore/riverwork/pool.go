package riverwork

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/callwright/callwright/adapters/bunstore/internal/postgres"
)

// The size of the pool that works: one listens, the others fetch, finish and maintain.
const (
	postgresConnections = 6
	leastConnections    = 3
	mostConnections     = 10_000
)

// lifetimeJitter keeps the connections of a pool from ending together.
const lifetimeJitter = postgres.Lifetime / 10

// pool holds Run's connections to PostgreSQL. On SQLite there are none.
type pool struct{ postgres *pgxpool.Pool }

// connect makes the pool, which connects when it is used.
func (w *Work) connect(ctx context.Context) (*pool, error) {
	if w.dsn() == "" {
		return &pool{}, nil
	}
	sessions, err := postgres.NewPool(w.dsn(), "callwright-work")
	if err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(w.dsn())
	if err != nil {
		return nil, err
	}
	config.ConnConfig = sessions.Config()
	// Nothing is left in a session that another one lacks: a pooler may change it from one transaction to the next.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.PrepareConn = func(_ context.Context, c *pgx.Conn) (bool, error) { return !sessions.Stale(c), nil }
	config.MaxConns = int32(w.cfg.Connections) // checked by New
	config.MaxConnLifetime, config.MaxConnLifetimeJitter = postgres.Lifetime, lifetimeJitter
	made, err := pgxpool.NewWithConfig(ctx, config)
	return &pool{made}, err
}

// pooled reports whether a pooler is between this program and the server.
func (p *pool) pooled(ctx context.Context) (pooled bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	err = p.postgres.AcquireFunc(ctx, func(c *pgxpool.Conn) (err error) {
		pooled, err = postgres.Pooled(ctx, c.Conn())
		return err
	})
	return pooled, err
}

func (p *pool) close() {
	if p.postgres != nil {
		p.postgres.Close()
	}
}
