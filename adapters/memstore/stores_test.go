package memstore_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/siptest"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/triagetest"
)

func TestStores(t *testing.T) {
	t.Parallel()
	siptest.RunStore(t, func(*testing.T) sip.Store { return memstore.Trunks{Store: memstore.New()} })
	siptest.RunHold(t, func(*testing.T) (sip.Store, callwright.Atomic) {
		s := memstore.New()
		return memstore.Trunks{Store: s}, s
	})
	siptest.RunStatuses(t, func(*testing.T) sip.Statuses { return memstore.Statuses{Store: memstore.New()} })
	siptest.RunRegistrations(t, func(*testing.T) sip.Registrations {
		return memstore.Registrations{Store: memstore.New()}
	})
	siptest.RunCallLog(t, func(*testing.T) sip.CallLog { return memstore.CallLog{Store: memstore.New()} })
	siptest.RunDiscoveryStore(t, func(*testing.T) discovery.Store { return memstore.Discoveries{Store: memstore.New()} })
	siptest.RunTestCallStore(t, func(*testing.T) testcall.Store { return memstore.TestCalls{Store: memstore.New()} })
	agentstest.RunCallStore(t, func(*testing.T) call.Store { return memstore.Calls{Store: memstore.New()} })
	agentstest.RunWebAgentStore(t, func(*testing.T) agents.WebAgents { return memstore.WebAgents{Store: memstore.New()} })
	agentstest.RunPathwayStore(t, func(*testing.T) pathway.Store { return memstore.Pathways{Store: memstore.New()} })
	agentstest.RunChatStore(t, func(*testing.T) (pathway.Store, pathway.Chats) {
		s := memstore.New()
		return memstore.Pathways{Store: s}, memstore.Chats{Store: s}
	})
	agentstest.RunNumberStore(t, func(*testing.T) agents.Store { return memstore.Numbers{Store: memstore.New()} })
	callwrighttest.RunTenants(t, func(*testing.T) callwright.Tenants { return memstore.Tenants{Store: memstore.New()} })
	callwrighttest.RunIdempotencyStore(t, func(*testing.T) callwright.IdempotencyStore { return memstore.IdempotencyStore{Store: memstore.New()} })
	newTriage := func(*testing.T) (triage.Store, callwright.Atomic) {
		s := memstore.New()
		return memstore.Triage{Store: s}, s
	}
	triagetest.RunStore(t, newTriage)
	triagetest.RunActivity(t, newTriage)
}
