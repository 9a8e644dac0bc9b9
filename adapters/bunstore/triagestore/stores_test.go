package triagestore_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/triagestore"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/triagetest"
)

func TestStores(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		issues := func(t *testing.T) (triage.Store, callwright.Atomic) {
			db := open(t)
			return triagestore.Store{DB: db}, db
		}
		triagetest.RunStore(t, issues)
		triagetest.RunActivity(t, issues)
	})
}

// TestEveryStatementUsesAnIndex runs every query of the store and fails if a query scans a whole table.
func TestEveryStatementUsesAnIndex(t *testing.T) {
	t.Parallel()
	storetest.UsesIndexes(t, useTriage)
}

func TestMain(m *testing.M) { storetest.Main(m) }
