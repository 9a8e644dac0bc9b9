// Package portingstore stores port requests, their documents and letters, and the orders of the manual gateway in a bunstore.DB.
package portingstore

import "github.com/callwright/callwright/adapters/bunstore/internal/sqldb"

// core is a database with the conversions of this package's rows.
type core struct{ *sqldb.DB }
