// Package sipstore keeps the trunks of package sip, their health, registrations and call log, discoveries and test calls
// in a bunstore.DB.
package sipstore

import "github.com/callwright/callwright/adapters/bunstore/internal/sqldb"

// core is a database with what the rows of this package need of it.
type core struct{ *sqldb.DB }
