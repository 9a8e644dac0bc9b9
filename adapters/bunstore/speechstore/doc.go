// Package speechstore stores voices and samples in a bunstore.DB. It does not store their audio: see speech.Blobs.
package speechstore

import "github.com/callwright/callwright/adapters/bunstore/internal/sqldb"

// core is a database with methods that convert rows of this package to domain types and back.
type core struct{ *sqldb.DB }
