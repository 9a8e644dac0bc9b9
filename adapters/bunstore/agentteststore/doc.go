// Package agentteststore stores scenarios, runs of tests, groups of runs and tornado sessions in a bunstore.DB.
package agentteststore

import (
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agenttest"
)

// Store stores scenarios, runs and groups of runs; it implements agenttest.Store.
type Store struct{ DB *bunstore.DB }

var _ agenttest.Store = Store{}

// core is a database with methods that convert rows of this package to domain types and back.
type core struct{ *sqldb.DB }

func (s Store) core() core { return core{s.DB.Core()} }
