// Package bunstore stores everything in SQLite or PostgreSQL, with bun. Both databases share models, queries and
// conformance suites. The differences are in internal/sqldb, in one file for each database, and in the SQL of the migrations.
//
// This package holds the connection, the migrations and Leases. The stores of the domains are in sub-packages, so that a
// program links only those that it uses: sipstore, agentstore, agentteststore, triagestore, and orgstore for
// organizations and idempotency keys.
//
//	db, err := bunstore.Open(ctx, "sqlite:data/callwright.db", bunstore.Config{Keyring: ring})
//	…
//	calls := agentstore.Calls{DB: db}
//	err = db.Do(ctx, func(ctx context.Context) error { return calls.Insert(ctx, c) })
//
// # Connections
//
// SQLite has one writer at a time, so there is one writing connection. Its transactions begin as writers
// (BEGIN IMMEDIATE): they wait for each other in this process instead of failing. Reads outside a transaction use a second
// pool, which cannot write and never waits for the writer. Durable work in the same database uses the writing connection,
// too (SQL). Everything that is called inside Do must therefore get the context of Do: a call with another context waits
// for the connection that its own transaction holds, until the context ends.
//
// PostgreSQL has one pool. Its isolation is READ COMMITTED, at which a read followed by a write loses updates without an
// error, so every change of a row is a compare-and-set on its version. triagestore.Store.Hold locks a row for callers that
// would rather wait than lose.
//
// # Statements
//
// A connection to SQLite keeps its 96 last used statements with values compiled; a statement about calls takes 14 KB. bun writes
// values into the text of a statement. On SQLite it marks them, and the connection sends them as arguments, so that statements
// that differ in values alone are compiled once. Longer statements than 16 KiB, and those with more than 128 values, run as they
// are. On PostgreSQL no statement is kept: a pooler, such as PgBouncer, may give each transaction another connection of the
// server, on which those statements are not prepared.
//
// # Errors
//
// Errors are *callwright.Error. Their messages hold nothing of the driver's; the driver's error is their cause, for the
// log. A database that is frozen, or locked by another process for longer than Config.Limit, gives CodeUnavailable. A transaction
// that fails because of another one (serialization failure, deadlock, busy) is retried a few times.
package bunstore
