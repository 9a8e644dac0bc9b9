// Package sipstore stores trunks, their status and registrations, the call log, discoveries and test calls of package
// sip in a bunstore.DB.
package sipstore

import "github.com/callwright/callwright/adapters/bunstore/internal/sqldb"

// core is a database with the conversions of this package's rows.
type core struct{ *sqldb.DB }
