// Package portingstore stores port requests, their documents and letters, reservations of numbers, and the orders of the manual gateway in
// a bunstore.DB.
package portingstore

import "github.com/callwright/callwright/adapters/bunstore/internal/sqldb"

// core is a database with methods that convert rows of this package to domain types and back.
type core struct{ *sqldb.DB }
