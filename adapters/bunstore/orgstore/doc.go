// Package orgstore stores organizations, API keys and the answers to requests with an idempotency key in a bunstore.DB.
package orgstore

import "github.com/callwright/callwright/adapters/bunstore/internal/sqldb"

// core is a database with what the rows of this package need of it.
type core struct{ *sqldb.DB }
