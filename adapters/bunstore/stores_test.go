package bunstore_test

import (
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/adapters/bunstore/triagestore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/internal/pgtest"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/siptest"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/triagetest"
)

// databases are what every test of this package runs on: each gives the address of an empty one.
var databases = map[string]func(testing.TB) string{
	"sqlite":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "a b%?#.db") },
	"memory":   func(testing.TB) string { return "sqlite::memory:" },
	"postgres": pgtest.DSN,
}

// onEach runs a test on every database.
func onEach(t *testing.T, test func(t *testing.T, open func(*testing.T) *bunstore.DB)) {
	t.Helper()
	for name, address := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, func(t *testing.T) *bunstore.DB { return open(t, address(t)) })
		})
	}
}

func open(t testing.TB, address string) *bunstore.DB {
	t.Helper()
	db, err := bunstore.Open(t.Context(), address, bunstore.Config{Keyring: keyring(t, "k1")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func keyring(t testing.TB, id string) *callwright.Keyring {
	t.Helper()
	ring, err := callwright.NewKeyring(id, map[string][]byte{id: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func TestStores(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		siptest.RunStore(t, func(t *testing.T) sip.Store { return sipstore.Trunks{DB: open(t)} })
		siptest.RunHold(t, func(t *testing.T) (sip.Store, callwright.Atomic) {
			db := open(t)
			return sipstore.Trunks{DB: db}, db
		})
		siptest.RunStatuses(t, func(t *testing.T) sip.Statuses { return sipstore.Statuses{DB: open(t)} })
		siptest.RunRegistrations(t, func(t *testing.T) sip.Registrations { return sipstore.Registrations{DB: open(t)} })
		siptest.RunCallLog(t, func(t *testing.T) calllog.Store { return sipstore.CallLog{DB: open(t)} })
		siptest.RunDiscoveryStore(t, func(t *testing.T) discovery.Store { return sipstore.Discoveries{DB: open(t)} })
		siptest.RunTestCallStore(t, func(t *testing.T) testcall.Store { return sipstore.TestCalls{DB: open(t)} })
		agentstest.RunCallStore(t, func(t *testing.T) call.Store { return agentstore.Calls{DB: open(t)} })
		agentstest.RunWebAgentStore(t, func(t *testing.T) agents.WebAgents { return agentstore.WebAgents{DB: open(t)} })
		agentstest.RunPathwayStore(t, func(t *testing.T) pathway.Store { return agentstore.Pathways{DB: open(t)} })
		agentstest.RunChatStore(t, func(t *testing.T) (pathway.Store, pathway.Chats) {
			db := open(t)
			return agentstore.Pathways{DB: db}, agentstore.Chats{DB: db}
		})
		agentstest.RunNumberStore(t, func(t *testing.T) agents.Store { return agentstore.Numbers{DB: open(t)} })
		issues := func(t *testing.T) (triage.Store, callwright.Atomic) {
			db := open(t)
			return triagestore.Store{DB: db}, db
		}
		triagetest.RunStore(t, issues)
		triagetest.RunActivity(t, issues)
		callwrighttest.RunLeases(t, func(t *testing.T) (callwright.Leases, callwright.Atomic) {
			db := open(t)
			return bunstore.Leases{DB: db}, db
		})
		callwrighttest.RunTenants(t, func(t *testing.T) callwright.Tenants { return orgstore.Tenants{DB: open(t)} })
		callwrighttest.RunIdempotencyStore(t, func(t *testing.T) callwright.IdempotencyStore { return orgstore.IdempotencyStore{DB: open(t)} })
	})
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
