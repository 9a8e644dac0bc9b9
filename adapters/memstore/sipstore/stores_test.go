package sipstore_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/proof"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/siptest"
	"github.com/callwright/callwright/sip/testcall"
)

func TestStores(t *testing.T) {
	t.Parallel()
	siptest.RunStore(t, func(*testing.T) sip.Store { return sipstore.Trunks{Store: memstore.New()} }, nil)
	siptest.RunHold(t, func(*testing.T) (sip.Store, callwright.Atomic) {
		s := memstore.New()
		return sipstore.Trunks{Store: s}, s
	})
	siptest.RunStatuses(t, func(*testing.T) sip.Statuses { return sipstore.Statuses{Store: memstore.New()} })
	siptest.RunDeliveries(t, func(*testing.T) sip.Deliveries { return sipstore.Deliveries{Store: memstore.New()} })
	siptest.RunDrafts(t, func(*testing.T) setup.Store { return sipstore.Drafts{Store: memstore.New()} }, nil)
	siptest.RunRegistrations(t, func(*testing.T) sip.Registrations { return sipstore.Registrations{Store: memstore.New()} })
	siptest.RunCallLog(t, func(*testing.T) siptest.CallLog { return sipstore.CallLog{Store: memstore.New()} })
	siptest.RunDiscoveryStore(t, func(*testing.T) discovery.Store { return sipstore.Discoveries{Store: memstore.New()} })
	siptest.RunTestCallStore(t, func(*testing.T) testcall.Store { return sipstore.TestCalls{Store: memstore.New()} })
	siptest.RunProofStore(t, func(*testing.T) proof.Store { return sipstore.Proofs{Store: memstore.New()} })
}
