package bunstore_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/pgtest"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/node"
)

func TestLeases(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		callwrighttest.RunLeases(t, func(t *testing.T) (node.Leases, callwright.Atomic) {
			db := open(t)
			return bunstore.Leases{DB: db}, db
		})
	}
	storetest.OnEach(t, run)
	t.Run("pgbouncer", func(t *testing.T) { // the pooler is used to create the database, too
		t.Parallel()
		run(t, func(t *testing.T) *bunstore.DB { return storetest.Open(t, pgtest.PooledDSN(t)) })
	})
}

// TestEveryStatementUsesAnIndex runs every query of Leases and fails if a query scans a whole table.
func TestEveryStatementUsesAnIndex(t *testing.T) {
	t.Parallel()
	storetest.UsesIndexes(t, useLeases)
}

func TestMain(m *testing.M) { storetest.Main(m) }
