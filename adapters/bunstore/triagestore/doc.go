// Package triagestore stores issues and their feeds in a bunstore.DB.
package triagestore

import "github.com/callwright/callwright/adapters/bunstore/internal/sqldb"

// core is a database with the conversions of this package's rows.
type core struct{ *sqldb.DB }
