// Package riverwork runs durable work with River, in the database that holds the state which the work is about.
//
//	config := riverwork.Config{SQL: db.SQL(), Tx: db.Tx, Atomic: db, PostgresDSN: db.PostgresDSN()}
//	err := riverwork.Migrate(ctx, config)
//	work, err := riverwork.New(config)
//	// … domains register their handlers …
//	err = work.Run(ctx)
//
// A task is a row that is inserted in the caller's own transaction: a rollback deletes it, and after the commit some node finds it,
// even after kill -9. Every node that calls Run works; they agree on one leader, which moves tasks whose time has come, adds
// periodic ones and rescues the tasks of dead nodes.
//
// # Connections
//
// On SQLite everything goes over the one writing connection of SQL, River's own transactions included: they take turns
// with the caller's in this process, and nothing fails as busy. So Enqueue inside a transaction must get the
// transaction's context; with another one it waits for a connection that its caller holds. Notifications of new tasks are
// rows beside them, which one statement reads 20 times a second.
//
// On PostgreSQL tasks are inserted over SQL and worked through a small pool of its own, which listens for
// notifications: a task starts within milliseconds of its commit. River's tables are in the schema "river".
//
// # Times
//
// A task with a RunAt, a wait of more than 5 seconds or a late retry starts up to 5 seconds late, because the leader
// looks that often. When the leader is killed, another follows within about 20 seconds. A task that was running on a
// node that was killed runs again after Config.RescueAfter; that run counts as one of its attempts.
//
// A unique task is compared only with other unique ones, so tasks of one kind are all unique or none is.
package riverwork
