// Package orgstore stores organizations, API keys, sessions, the answers to requests with an idempotency key and the
// deliveries of webhooks in a bunstore.DB.
package orgstore

import "github.com/callwright/callwright/adapters/bunstore/internal/sqldb"

// core is a database with the conversions of this package's rows.
type core struct{ *sqldb.DB }
