// Package orgstore stores organizations, API keys, sessions, the answers to requests with an idempotency key, and the deliveries and
// endpoints of webhooks in a bunstore.DB.
package orgstore

import "github.com/callwright/callwright/adapters/bunstore/internal/sqldb"

// core is a database with methods that convert rows of this package to domain types and back.
type core struct{ *sqldb.DB }
