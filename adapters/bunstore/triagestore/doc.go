// Package triagestore stores issues, their feeds and their other parts in a bunstore.DB.
package triagestore

import "github.com/callwright/callwright/adapters/bunstore/internal/sqldb"

// core is a database with methods that convert rows of this package to domain types and back.
type core struct{ *sqldb.DB }
