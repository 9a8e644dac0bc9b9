// Package agentstore stores agents, inbound numbers, calls, pathways, chats and personas in a bunstore.DB.
package agentstore

import "github.com/callwright/callwright/adapters/bunstore/internal/sqldb"

// core is a database with methods that convert rows of this package to domain types and back.
type core struct{ *sqldb.DB }
