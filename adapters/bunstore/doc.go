// Package bunstore stores the data of all domains in SQLite or PostgreSQL, with bun. Both databases share models, queries and conformance
// suites. The differences are in internal/sqldb, in one file for each database, and in the SQL of the migrations.
//
// This package holds the connection, the migrations and Leases. The stores of the domains are in sub-packages, so that a program links only
// the stores that it uses: sipstore, agentstore, agentteststore, triagestore, portingstore, speechstore, and orgstore for organizations,
// idempotency keys and the deliveries of webhooks.
//
//	db, err := bunstore.Open(ctx, "sqlite:data/callwright.db", bunstore.Config{Keyring: ring})
//	…
//	calls := agentstore.Calls{DB: db}
//	err = db.Do(ctx, func(ctx context.Context) error { return calls.Insert(ctx, c) })
//
// # Connections
//
// SQLite allows one writer at a time, so all writes share one connection. Its transactions begin with BEGIN IMMEDIATE: they wait for each
// other in this process instead of failing. Reads outside a transaction use a second, read-only pool, which never waits for the writer.
// Durable work in the same database uses the writing connection, too: see DB.SQL. Every call inside Do must therefore use the context of
// Do: a write with another context waits for the connection that its own transaction holds, until the context ends, and a read does not see
// the changes of the transaction.
//
// PostgreSQL has one pool. Its isolation level is READ COMMITTED, at which a read followed by a write loses concurrent updates without an
// error. Therefore rows that are read, changed and written have a version, and the write is a compare-and-set on it. triagestore.Store.Hold
// locks a row for callers that prefer waiting to a conflict.
//
// # Statements
//
// A connection to SQLite caches its 96 most recently used statements in compiled form; a statement about calls occupies 14 KB. bun writes
// values into the text of a statement. On SQLite it marks them, and the connection sends them as arguments, so that statements that differ
// only in their values are compiled once. Statements longer than 16 KiB or with more than 128 values run unchanged. On PostgreSQL no
// statement is cached: a pooler, such as PgBouncer, may execute each transaction on another connection of the server, on which a cached
// statement is not prepared.
//
// # Errors
//
// Errors are *callwright.Error. Their messages contain no text of the driver; the driver's error is their cause, for the log. The error is
// CodeUnavailable if a database does not respond, or if another process locks it for longer than Config.Limit. A transaction that fails
// because of a concurrent transaction (serialization failure, deadlock, busy) is retried a few times.
package bunstore
