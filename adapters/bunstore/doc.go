// Package bunstore keeps everything in SQLite or PostgreSQL, with bun. The two share models, queries and conformance
// suites; what differs is in one file each (internal/sqldb) and in the SQL of the migrations. This package has the
// database and its migrations; the stores of a domain are in a sub-package, so that a program links only those it uses:
// sipstore, agentstore, triagestore, and orgstore for the root package's ports.
//
//	db, err := bunstore.Open(ctx, "sqlite:data/callwright.db", bunstore.Config{Keyring: ring})
//	…
//	calls := agentstore.Calls{DB: db}
//	err = db.Do(ctx, func(ctx context.Context) error { return calls.Insert(ctx, c) })
//
// # Connections
//
// SQLite has one writer at a time, so there is one writing connection, whose transactions begin as writers
// (BEGIN IMMEDIATE): they wait for each other in this process instead of failing. What is read outside a transaction
// goes over a second pool, which cannot write and never waits for the writer. Durable work that is kept in the same
// database uses the writing connection too (SQL). Everything that is called inside Do must therefore get the context
// that Do gives: with another one it waits for the connection that its own transaction holds, until its context ends.
//
// PostgreSQL has one pool. Its isolation is READ COMMITTED, at which a read followed by a write loses updates without
// an error, so every change of a row is a compare-and-set on its version. Who would rather wait than lose locks the row
// first: see triagestore.Store.Hold.
//
// # Errors
//
// Errors are *callwright.Error. Their messages hold nothing of the driver's; its error is their cause, for the log. A
// transaction that lost against another (serialization failure, deadlock, busy) is tried again a few times.
package bunstore
