// Package postgres contains the common code of all connections to PostgreSQL. It configures connections, discards stale ones after a
// failover, and distinguishes an unavailable server from an invalid statement by the error.
package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Lifetime is the maximum lifetime of a connection in a pool. It bounds how long connections stay at a server after its name, or a pooler,
// points to another server.
const Lifetime = 30 * time.Minute

// The timeouts after which a silent server counts as unavailable. The defaults of the kernel amount to hours.
const (
	connectTimeout = 5 * time.Second
	keepAliveIdle  = 10 * time.Second
	keepAliveEvery = 5 * time.Second
	keepAliveTries = 3
	unacknowledged = 20 * time.Second // maximum time that data may stay unacknowledged, on Linux
)

// SQLSTATE codes of an unusable session or server.
const (
	readOnly         = "25006" // the server has become a standby, or its configuration forbids writes
	adminShutdown    = "57P01"
	crashShutdown    = "57P02"
	cannotConnectNow = "57P03"
	tooMany          = "53300" // too many connections
	idleTimeout      = "57P05"
	connectionClass  = "08"
)

// Pool configures the connections of a pool and detects stale ones. When a connection reports that the server shuts down or has become
// read-only, this makes all existing connections of the pool stale: they must not be used again.
type Pool struct {
	config     *pgx.ConnConfig
	generation atomic.Int64
}

// generation is the key in a connection's custom data that holds the pool's generation at the time of the connection.
const generation = "callwright.generation"

// NewPool parses a connection string. Unless the string sets target_session_attrs, connections require a server that accepts writes
// (read-write): of several hosts, the first such host is used.
func NewPool(dsn, application string) (*Pool, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("the address of the database must be sqlite:<path> or a valid PostgreSQL connection string, such as postgres://user:password@host/database") // the error of pgx may contain the password
	}
	p := &Pool{config: config}
	config.RuntimeParams["timezone"] = "UTC"
	config.RuntimeParams["application_name"] = application
	if config.ValidateConnect == nil {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	config.DialFunc = (&net.Dialer{
		Control:         giveUp,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAliveIdle, Interval: keepAliveEvery, Count: keepAliveTries},
	}).DialContext
	config.AfterConnect = func(_ context.Context, c *pgconn.PgConn) error {
		c.CustomData()[generation] = p.generation.Load()
		return nil
	}
	config.OnPgError = func(_ *pgconn.PgConn, e *pgconn.PgError) bool {
		switch e.Code {
		case readOnly, adminShutdown, crashShutdown:
			p.generation.Add(1)
			return false
		}
		return !strings.EqualFold(e.Severity, "FATAL")
	}
	return p, nil
}

// Config returns a copy of the configuration for new connections.
func (p *Pool) Config() *pgx.ConnConfig { return p.config.Copy() }

// Stale reports whether any connection of the pool has learned, after c was made, that the server shuts down or has become read-only. It
// also returns true for a connection that the pool did not make.
func (p *Pool) Stale(c *pgx.Conn) bool {
	made, ok := c.PgConn().CustomData()[generation].(int64)
	return !ok || made != p.generation.Load()
}

// Pooled reports whether a connection leads to a pooler, such as PgBouncer: the process that executes a query is then not the process that
// the server named when the connection was made. Behind a pooler, each transaction may use another session. Features of a session, such as
// LISTEN, prepared statements and locks outside a transaction, cannot be used.
func Pooled(ctx context.Context, c *pgx.Conn) (bool, error) {
	var pid uint32
	if err := c.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&pid); err != nil {
		return false, err
	}
	return pid != c.PgConn().PID(), nil
}

// Refused reports whether an error means that a statement was not executed because its session is unusable. The statement may then be sent
// again in another session.
func Refused(err error) bool {
	return slices.Contains([]string{readOnly, adminShutdown, crashShutdown}, State(err)) || errors.Is(err, driver.ErrBadConn)
}

// TooManyConnections reports whether an error means that the server has reached its limit of connections.
func TooManyConnections(err error) bool { return State(err) == tooMany }

// Unavailable reports whether an error means that the server cannot be reached, has reached its limit of connections, has ended the
// session, or accepts no writes. Unless Refused is true, the statement may have been executed.
func Unavailable(err error) bool {
	if _, connecting := errors.AsType[*pgconn.ConnectError](err); connecting {
		return true
	}
	switch state := State(err); state {
	case readOnly, adminShutdown, crashShutdown, cannotConnectNow, tooMany, idleTimeout:
		return true
	case "":
	default:
		return strings.HasPrefix(state, connectionClass)
	}
	for _, lost := range []error{driver.ErrBadConn, sql.ErrConnDone, pgconn.ErrConnClosed, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed} {
		if errors.Is(err, lost) {
			return true
		}
	}
	_, network := errors.AsType[*net.OpError](err)
	return network || pgconn.SafeToRetry(err)
}

// State returns the SQLSTATE of an error, or the empty string if it is not an error of PostgreSQL.
func State(err error) string {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return ""
	}
	return e.Code
}
