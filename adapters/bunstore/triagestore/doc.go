// Package triagestore stores issues and their feeds in a bunstore.DB.
package triagestore

import "github.com/callwright/callwright/adapters/bunstore/internal/sqldb"

// core is a database with what the rows of this package need of it.
type core struct{ *sqldb.DB }
