// Package sipstore stores the data of package sip and its sub-packages in a bunstore.DB: trunks, their status, registrations and unfinished
// setups, the call log, discoveries, test calls, proofs of numbers and the deliveries of alerts.
package sipstore

import "github.com/callwright/callwright/adapters/bunstore/internal/sqldb"

// core is a database with methods that convert rows of this package to domain types and back.
type core struct{ *sqldb.DB }
