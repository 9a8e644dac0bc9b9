// Package sipstore stores the data of package sip in a bunstore.DB: trunks, their status and registrations, the call log, discoveries and
// test calls.
package sipstore

import "github.com/callwright/callwright/adapters/bunstore/internal/sqldb"

// core is a database with methods that convert rows of this package to domain types and back.
type core struct{ *sqldb.DB }
