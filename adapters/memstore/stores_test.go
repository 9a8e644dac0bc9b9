package memstore_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/siptest"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/triagetest"
)

func TestStores(t *testing.T) {
	t.Parallel()
	siptest.RunStore(t, func(*testing.T) sip.Store { return sipstore.Trunks{Store: memstore.New()} })
	siptest.RunHold(t, func(*testing.T) (sip.Store, callwright.Atomic) {
		s := memstore.New()
		return sipstore.Trunks{Store: s}, s
	})
	siptest.RunStatuses(t, func(*testing.T) sip.Statuses { return sipstore.Statuses{Store: memstore.New()} })
	siptest.RunRegistrations(t, func(*testing.T) sip.Registrations {
		return sipstore.Registrations{Store: memstore.New()}
	})
	siptest.RunCallLog(t, func(*testing.T) calllog.Store { return sipstore.CallLog{Store: memstore.New()} })
	siptest.RunDiscoveryStore(t, func(*testing.T) discovery.Store { return sipstore.Discoveries{Store: memstore.New()} })
	siptest.RunTestCallStore(t, func(*testing.T) testcall.Store { return sipstore.TestCalls{Store: memstore.New()} })
	agentstest.RunCallStore(t, func(*testing.T) call.Store { return agentstore.Calls{Store: memstore.New()} })
	agentstest.RunWebAgentStore(t, func(*testing.T) agents.WebAgents { return agentstore.WebAgents{Store: memstore.New()} })
	agentstest.RunPathwayStore(t, func(*testing.T) pathway.Store { return agentstore.Pathways{Store: memstore.New()} })
	agentstest.RunChatStore(t, func(*testing.T) (pathway.Store, pathway.Chats) {
		s := memstore.New()
		return agentstore.Pathways{Store: s}, agentstore.Chats{Store: s}
	})
	agentstest.RunNumberStore(t, func(*testing.T) agents.Store { return agentstore.Numbers{Store: memstore.New()} })
	callwrighttest.RunTenants(t, func(*testing.T) callwright.Tenants { return orgstore.Tenants{Store: memstore.New()} })
	callwrighttest.RunIdempotencyStore(t, func(*testing.T) callwright.IdempotencyStore { return orgstore.IdempotencyStore{Store: memstore.New()} })
	newTriage := func(*testing.T) (triage.Store, callwright.Atomic) {
		s := memstore.New()
		return triagestore.Store{Store: s}, s
	}
	triagetest.RunStore(t, newTriage)
	triagetest.RunActivity(t, newTriage)
}
