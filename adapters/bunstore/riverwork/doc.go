// Package riverwork runs durable work with River, in the database that also holds the state that the work changes.
//
//	config := riverwork.Config{SQL: db.SQL(), Tx: db.Tx, Atomic: db, PostgresDSN: db.PostgresDSN()}
//	err := riverwork.Migrate(ctx, config)
//	work, err := riverwork.New(config)
//	// … domains register their handlers …
//	err = work.Run(ctx)
//
// A task is a row that is inserted in the caller's own transaction. A rollback deletes it; after the commit some node finds it, even after
// kill -9. Every node that calls Run executes tasks. The nodes elect a leader, which makes scheduled tasks available, adds periodic tasks,
// and rescues the tasks of dead nodes.
//
// # Connections
//
// On SQLite, all statements use the single writing connection of SQL, including River's own transactions. River and callers take turns
// within the process, so that no transaction fails because the database is busy. Enqueue inside a transaction must therefore use the
// transaction's context: with another context it waits for a connection that its caller holds. Notifications of new tasks are stored as
// rows, which one statement reads 20 times a second.
//
// On PostgreSQL, tasks are inserted over SQL. Run uses a small separate pool, which listens for notifications: a task starts within
// milliseconds of its commit. River's tables are in the schema "river".
//
// # Times
//
// A task with a RunAt, a wait of more than 5 seconds or a late retry starts up to 5 seconds late, because the leader looks for such tasks
// at this interval. If the leader is killed, another is elected within about 20 seconds. A task that was running on a killed node runs
// again after Config.RescueAfter; the interrupted run counts as an attempt.
//
// A unique task is compared only with other unique tasks. The tasks of one kind should therefore all be unique, or none.
package riverwork
