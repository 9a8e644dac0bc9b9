// Package agentstore stores agents, inbound numbers, calls, pathways, chats and personas in a bunstore.DB.
package agentstore

import "github.com/callwright/callwright/adapters/bunstore/internal/sqldb"

// core is a database with the conversions of this package's rows.
type core struct{ *sqldb.DB }
