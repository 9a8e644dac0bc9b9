package sipstore_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/proof"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/siptest"
	"github.com/callwright/callwright/sip/testcall"
)

func TestStores(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		siptest.RunStore(t, func(t *testing.T) sip.Store { return sipstore.Trunks{DB: open(t)} },
			func(t *testing.T, s sip.Store) []byte { return storetest.AtRest(t, s.(sipstore.Trunks).DB) }) //nolint:forcetypeassert // it is ours
		siptest.RunHold(t, func(t *testing.T) (sip.Store, callwright.Atomic) {
			db := open(t)
			return sipstore.Trunks{DB: db}, db
		})
		siptest.RunStatuses(t, func(t *testing.T) sip.Statuses { return sipstore.Statuses{DB: open(t)} })
		siptest.RunDeliveries(t, func(t *testing.T) sip.Deliveries { return sipstore.Deliveries{DB: open(t)} })
		siptest.RunDrafts(t, func(t *testing.T) setup.Store { return sipstore.Drafts{DB: open(t)} },
			func(t *testing.T, s setup.Store) []byte { return storetest.AtRest(t, s.(sipstore.Drafts).DB) }) //nolint:forcetypeassert // it is ours
		siptest.RunRegistrations(t, func(t *testing.T) sip.Registrations { return sipstore.Registrations{DB: open(t)} })
		siptest.RunCallLog(t, func(t *testing.T) siptest.CallLog { return sipstore.CallLog{DB: open(t)} })
		siptest.RunDiscoveryStore(t, func(t *testing.T) discovery.Store { return sipstore.Discoveries{DB: open(t)} })
		siptest.RunTestCallStore(t, func(t *testing.T) testcall.Store { return sipstore.TestCalls{DB: open(t)} })
		siptest.RunProofStore(t, func(t *testing.T) proof.Store { return sipstore.Proofs{DB: open(t)} })
	})
}

// TestEveryStatementUsesAnIndex runs every query of the stores and fails if a query scans a whole table.
func TestEveryStatementUsesAnIndex(t *testing.T) {
	t.Parallel()
	storetest.UsesIndexes(t, func(ctx context.Context, db *bunstore.DB, now time.Time) []error {
		return slices.Concat(useCallLog(ctx, db, now), useTrunks(ctx, db, now))
	})
}

func TestMain(m *testing.M) { storetest.Main(m) }
