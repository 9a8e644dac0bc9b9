package riverwork

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/callwright/callwright/adapters/bunstore/internal/postgres"
)

// Sizes of Run's pool: one connection listens, the others fetch tasks, store results and maintain the tables.
const (
	postgresConnections = 6
	leastConnections    = 3
	mostConnections     = 10_000
)

// lifetimeJitter keeps the connections of a pool from being closed at the same time.
const lifetimeJitter = postgres.Lifetime / 10

// pool holds Run's connections to PostgreSQL. Its field is nil on SQLite.
type pool struct{ postgres *pgxpool.Pool }

// connect creates the pool, which opens connections when they are needed.
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
	// This mode leaves no prepared statements in a session, because a pooler may use another session for each transaction.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.PrepareConn = func(_ context.Context, c *pgx.Conn) (bool, error) { return !sessions.Stale(c), nil }
	config.MaxConns = int32(w.cfg.Connections) // New has checked the range
	config.MaxConnLifetime, config.MaxConnLifetimeJitter = postgres.Lifetime, lifetimeJitter
	made, err := pgxpool.NewWithConfig(ctx, config)
	return &pool{made}, err
}

// pooled reports whether the connections lead to a pooler.
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
