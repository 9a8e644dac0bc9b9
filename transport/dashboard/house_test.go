package dashboard_test

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/audiofile"
	"github.com/callwright/callwright/adapters/filestore"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/adapters/memstore/agentteststore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/adapters/memstore/speechstore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/adapters/portgateway"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/document"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/porting/loa/loatest"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/monitor"
	"github.com/callwright/callwright/sip/proof"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/transport/dashboard"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/triagetest"
)

// These constants are the organizations of a test. The tests that need foreign objects furnish both; otherwise only owner has objects.
const (
	owner    = callwright.OrgID("owner")
	stranger = callwright.OrgID("stranger")
)

// anybody is a page.Authenticator that identifies each request as the organization in the header Org, or as owner if there is none. Only
// owner has EntitlementOperator.
type anybody struct{}

func (anybody) Authenticate(r *http.Request) (callwright.Principal, error) {
	p := callwright.Principal{
		Org: cmp.Or(callwright.OrgID(r.Header.Get("Org")), owner), KeyID: "k", KeyName: "Robin", Entitlements: []callwright.Entitlement{callwright.EntitlementSIP},
	}
	if p.Org == owner {
		p.Entitlements = append(p.Entitlements, callwright.EntitlementOperator)
	}
	return p, nil
}

// quiet ignores mails and registrations.
type quiet struct{}

func (quiet) SendMail(context.Context, string, string, string, string) error { return nil }
func (quiet) RegisterInbound(context.Context, callwright.OrgID, callwright.PhoneNumber) error {
	return nil
}

func (quiet) ReleaseInbound(context.Context, callwright.OrgID, callwright.PhoneNumber) error {
	return nil
}

// unused implements ports that no test calls.
type unused struct {
	calllog.Monitor
	call.Routes
	discovery.Prober
	resolve.DNS
	testcall.Line
	proof.Announcer
}

// house contains the services of all domains in memory. Nothing executes their tasks.
type house struct {
	t      *testing.T
	store  *memstore.Store
	work   callwright.Work
	config dashboard.Config
	say    func(text string) string // returns the text to store, which may be hostile

	calls   agentstore.Calls
	log     sipstore.CallLog
	tests   agentteststore.Store
	found   agentteststore.Sessions
	voices  speechstore.Voices
	audio   *filestore.Recordings
	attempt sipstore.TestCalls
	status  sipstore.Statuses

	attached triagetest.Resolver
	letters  map[callwright.OrgID]callwright.Secret // tokens of the letters of authorization
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func open(t *testing.T) *house {
	t.Helper()
	store := memstore.New()
	h := &house{
		t: t, say: func(text string) string { return text }, store: store, work: memstore.NewWork(store, nil), calls: agentstore.Calls{Store: store}, log: sipstore.CallLog{Store: store},
		tests: agentteststore.Store{Store: store}, found: agentteststore.Sessions{Store: store}, voices: speechstore.Voices{Store: store},
		audio: must(filestore.New(t.TempDir())), attempt: sipstore.TestCalls{Store: store}, status: sipstore.Statuses{Store: store}, letters: map[callwright.OrgID]callwright.Secret{},
	}
	t.Cleanup(func() { _ = h.audio.Close() })
	h.config.Authenticator = anybody{}
	h.config.Access = must(access.New(access.Config{
		Store: orgstore.Tenants{Store: store}, Atomic: store, Secret: callwright.Secret(strings.Repeat("s", 32)),
	}))
	h.config.Deliveries = must(delivery.NewLog(delivery.LogConfig{Store: orgstore.Deliveries{Store: store}}))
	h.conversations()
	h.trunks()
	h.ports()
	h.issues()
	h.config.Speech = must(speech.New(speech.Config{
		Engine: &speechtest.Engine{}, Cloner: &speechtest.Cloner{}, Decoder: audiofile.Decoder{}, Voices: h.voices,
		Samples: speechstore.Samples{Store: store}, Blobs: new(speechstore.Blobs), Atomic: store, Work: h.work,
		Key: callwright.Secret(strings.Repeat("k", 32)),
	}))
	return h
}

// conversations creates the services for calls, pathways and tests.
func (h *house) conversations() {
	c, store := &h.config, h.store
	c.Personas = must(persona.New(persona.Config{Store: agentstore.Personas{Store: store}, Atomic: store}))
	c.Agents = must(agents.New(agents.Config{
		Numbers: agentstore.Numbers{Store: store}, WebAgents: agentstore.WebAgents{Store: store}, Atomic: store, Personas: c.Personas,
	}))
	c.Calls = must(call.New(call.Config{
		Store: h.calls, Leases: memstore.Leases{Store: store}, Atomic: store, Work: h.work,
		Line: agentstest.NewLine(agentstest.PhoneConfig{}), Routes: unused{}, Model: scripted.New(), Recordings: h.audio,
		Agents:     c.Agents,
		Recognizer: &agentstest.Recognizer{}, Synthesizer: &agentstest.Synthesizer{}, Node: "n",
	}))
	c.Pathways = must(pathway.New(pathway.Config{
		Store: agentstore.Pathways{Store: store}, Chats: agentstore.Chats{Store: store}, Atomic: store, Work: h.work, Gate: &agentstest.Gate{},
		Interpreter: &pathway.Interpreter{Model: scripted.New()},
	}))
	c.Tests = must(agenttest.New(agenttest.Config{
		Store: h.tests, Atomic: store, Work: h.work, Leases: memstore.Leases{Store: store}, Node: "n", Pathways: c.Pathways,
		Engine: must(engine.New(engine.Config{
			Runner: &agenttesttest.Runner{}, Model: &agentstest.Model{}, Judge: func(llm.Model) assert.Judge { return nil },
		})),
	}))
	c.Tornado = must(tornado.New(tornado.Config{
		Store: h.found, Atomic: store, Work: h.work, Leases: memstore.Leases{Store: store}, Node: "n", Pathways: c.Pathways, Runs: c.Tests,
		Fixer: struct{ tornado.Fixer }{},
	}))
}

func (h *house) trunks() {
	c, store := &h.config, h.store
	tenants, stored := orgstore.Tenants{Store: store}, sipstore.Trunks{Store: store}
	c.Trunks = must(sip.New(sip.Config{
		Store: stored, Atomic: store, Numbers: quiet{}, Statuses: h.status, Registrations: sipstore.Registrations{Store: store},
		Deliveries: sipstore.Deliveries{Store: store},
		Monitor: must(monitor.New(monitor.Config{
			Statuses: h.status, Trunks: stored, Attempts: h.log, Atomic: store, Work: h.work, Prober: struct{ monitor.Prober }{}, Organizations: tenants,
		})),
		Codecs: []string{"PCMU"}, DerivationKey: callwright.Secret(strings.Repeat("k", 32)),
	}))
	c.CallLog = must(calllog.New(calllog.Config{Store: h.log, Leases: memstore.Leases{Store: store}, Monitor: unused{}, Node: "n"}))
	c.Discoveries = must(discovery.New(discovery.Config{
		Store: sipstore.Discoveries{Store: store}, Prober: unused{},
		Resolver: must(resolve.New(resolve.Config{DNS: unused{}})),
	}))
	c.Proofs = must(proof.New(proof.Config{
		Store: sipstore.Proofs{Store: store}, Atomic: store, Work: h.work, Trunks: c.Trunks, Announcer: unused{}, Key: callwright.Secret(strings.Repeat("k", 32)),
	}))
	c.TestCalls = must(testcall.New(testcall.Config{Store: h.attempt, Trunks: c.Trunks, Line: unused{}, Work: h.work}))
	c.Setup = must(setup.New(setup.Config{Work: h.work, Trunks: c.Trunks, Organizations: tenants, Drafts: sipstore.Drafts{Store: store}, Regions: []setup.Region{
		{Name: "home", Addresses: []string{"192.0.2.10"}, Host: "sip.example.net", Port: 5061, RTPLow: 10000, RTPHigh: 20000},
	}}))
}

func (h *house) ports() {
	c, store := &h.config, h.store
	c.Documents = must(document.New(document.Config{
		Store: portingstore.Documents{Store: store}, Blobs: portingstore.Blobs{Store: store}, Work: h.work,
	}))
	c.Letters = must(loa.New(loa.Config{
		Provider: "Acme Telecom", Store: portingstore.Letters{Store: store}, Atomic: store, Work: h.work, Mailer: quiet{},
		Renderer: loatest.Plain{}, Key: callwright.Secret(strings.Repeat("k", loa.MinKey)),
		URL: func(token string) string { return "https://voice.example.com/loa/" + token },
	}))
	c.Ports = must(porting.New(porting.Config{
		Store: portingstore.Requests{Store: store}, Atomic: store, Work: h.work, Documents: c.Documents, Letters: c.Letters, Inbound: quiet{},
		Gateway: must(portgateway.NewSimulated(portgateway.SimulatedConfig{Secret: "carrier-secret"})),
	}))
	c.Letters.Attach(c.Ports)
}

func (h *house) issues() {
	h.config.Issues = must(triage.New(triage.Config{
		Store: triagestore.Store{Store: h.store}, Atomic: h.store, Work: h.work, Analyst: new(triagetest.Analyst),
		Resolvers: map[triage.ResourceType]triage.ResourceResolver{triage.ResourceCall: &h.attached},
	}))
	h.t.Cleanup(h.config.Issues.Close)
}

// created is the creation time of most objects in a test.
var created = time.Date(2026, 3, 2, 9, 15, 0, 0, time.UTC)
