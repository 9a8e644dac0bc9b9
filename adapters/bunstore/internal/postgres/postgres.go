// Package postgres is the common code of all connections to PostgreSQL, for all libraries: making connections, dropping them after
// a failover, and telling an unavailable server from a wrong statement by the error.
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

// Lifetime is the longest life of a connection in a pool. New connections follow a pooler or a name that leads to another server.
const Lifetime = 30 * time.Minute

// The times after which a server that says nothing any more is given up. PostgreSQL's own default follows the kernel's: hours.
const (
	connectTimeout = 5 * time.Second
	keepAliveIdle  = 10 * time.Second
	keepAliveEvery = 5 * time.Second
	keepAliveTries = 3
	unacknowledged = 20 * time.Second // that data may stay, on Linux
)

// SQLSTATE codes of a session or a server that is of no use any more.
const (
	readOnly         = "25006" // the server has become a standby, or takes no writes by its configuration
	adminShutdown    = "57P01"
	crashShutdown    = "57P02"
	cannotConnectNow = "57P03"
	tooMany          = "53300" // connections
	idleTimeout      = "57P05"
	connectionClass  = "08"
)

// Pool configures the connections of a pool. Sessions of it that were made before the server went away, or became read-only, are
// stale from the first sign of that on, and are not used again.
type Pool struct {
	config     *pgx.ConnConfig
	generation atomic.Int64
}

// generation is the key of a connection's data under which the generation lies that it belongs to.
const generation = "callwright.generation"

// NewPool reads a connection string. Unless that says otherwise, a connection is one to a server that takes writes
// (target_session_attrs=read-write): of several hosts the first such is taken.
func NewPool(dsn, application string) (*Pool, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("the connection string is not one of PostgreSQL") // the error of pgx may show the password
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

// Config returns a copy of the configuration of a connection.
func (p *Pool) Config() *pgx.ConnConfig { return p.config.Copy() }

// Stale reports whether a connection was made before the server went away or became read-only.
func (p *Pool) Stale(c *pgx.Conn) bool {
	made, ok := c.PgConn().CustomData()[generation].(int64)
	return !ok || made != p.generation.Load()
}

// Pooled reports whether a connection leads to a pooler, such as PgBouncer: the answering process differs from the process
// announced at the connection. Behind a pooler a session may change from one transaction to the next: features of a session, such
// as LISTEN, prepared statements and locks without a transaction, cannot be used.
func Pooled(ctx context.Context, c *pgx.Conn) (bool, error) {
	var pid uint32
	if err := c.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&pid); err != nil {
		return false, err
	}
	return pid != c.PgConn().PID(), nil
}

// Refused reports whether an error means that a statement was not carried out because its session is of no use: it may be sent
// again on another one.
func Refused(err error) bool {
	return slices.Contains([]string{readOnly, adminShutdown, crashShutdown}, State(err)) || errors.Is(err, driver.ErrBadConn)
}

// TooManyConnections reports whether an error means that the server has no connection left for this program.
func TooManyConnections(err error) bool { return State(err) == tooMany }

// Unavailable reports whether an error means that the server cannot be reached, that it ended the session, or that it takes no writes.
// Whether the statement was carried out is unknown, unless Refused says so.
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

// State returns the SQLSTATE of an error of PostgreSQL; empty: it is none.
func State(err error) string {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return ""
	}
	return e.Code
}
