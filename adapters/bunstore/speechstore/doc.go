// Package speechstore stores voices and samples in a bunstore.DB. Their audio is elsewhere: see speech.Blobs.
package speechstore

import "github.com/callwright/callwright/adapters/bunstore/internal/sqldb"

// core is a database with the conversions of this package's rows.
type core struct{ *sqldb.DB }
