package bench_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/audiofile"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/adapters/bunstore/speechstore"
	"github.com/callwright/callwright/adapters/bunstore/triagestore"
	"github.com/callwright/callwright/adapters/filestore"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/portgateway"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/node"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/document"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/porting/loa/loatest"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/monitor"
	"github.com/callwright/callwright/sip/proof"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/transport/dashboard"
	"github.com/callwright/callwright/transport/dashboard/pagetest"
	"github.com/callwright/callwright/triage"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// outside implements the ports of the dashboard's services. No page calls them.
type outside struct{}

func (outside) RegisterInbound(context.Context, callwright.OrgID, callwright.PhoneNumber) error {
	return nil
}

func (outside) ReleaseInbound(context.Context, callwright.OrgID, callwright.PhoneNumber) error {
	return nil
}

func (outside) Observe(context.Context, callwright.OrgID, string, string, health.Evidence) {}

func (outside) Options(context.Context, failover.Server, sip.TLSVerification) health.Evidence {
	return health.Evidence{}
}

func (outside) Announce(context.Context, proof.Announcement) error { return nil }

func (outside) Probe(_ context.Context, p discovery.Probe) discovery.Answer {
	return discovery.Answer{Attempt: discovery.Attempt{Address: p.Address, Transport: p.Transport}}
}

func (outside) Place(context.Context, testcall.Placement, func(ladder.Event)) (testcall.Leg, error) {
	return nil, errors.New("no calls are placed")
}

func (outside) SendMail(context.Context, string, string, string, string) error { return nil }
func (outside) NotifyPort(context.Context, string, porting.Request, porting.Entry) error {
	return nil
}
func (outside) CheckURL(string) error { return nil }

// house is a dashboard with its services and an SQLite database in a file.
type house struct {
	db         *bunstore.DB
	access     *access.Service
	issues     *triage.Service
	tests      *agenttest.Service
	trunks     *sip.Service
	pathways   *pathway.Service
	recordings *filestore.Recordings
	url        string
}

// newHouse starts a dashboard on the data in a folder, until the test or benchmark ends.
func newHouse(tb testing.TB, folder string) *house {
	tb.Helper()
	ring := must(callwright.NewKeyring("k", map[string][]byte{"k": make([]byte, 32)}))
	db := must(bunstore.Open(tb.Context(), "sqlite:"+filepath.Join(folder, "callwright.db"), bunstore.Config{Keyring: ring}))
	h := &house{db: db, recordings: must(filestore.New(filepath.Join(folder, "recordings")))}
	work, leases := memstore.NewWork(memstore.New(), nil), bunstore.Leases{DB: db}
	h.access = must(access.New(access.Config{Store: orgstore.Tenants{DB: db}, Atomic: db, Secret: callwright.Secret(strings.Repeat("s", 32))}))
	h.issues = must(triage.New(triage.Config{Store: triagestore.Store{DB: db}, Atomic: db, Work: work}))
	h.pathways = must(pathway.New(pathway.Config{
		Store: agentstore.Pathways{DB: db}, Chats: agentstore.Chats{DB: db}, Atomic: db, Work: work, Interpreter: &pathway.Interpreter{Model: scripted.New(), Requests: &agentstest.Requests{}},
	}))
	h.tests = must(agenttest.New(agenttest.Config{
		Store: agentteststore.Store{DB: db}, Atomic: db, Work: work, Leases: leases, Node: "n", Pathways: h.pathways,
		Engine: must(engine.New(engine.Config{
			Runner: &agenttesttest.Runner{}, Model: &agentstest.Model{}, Judge: func(llm.Model) assert.Judge { return nil },
		})),
	}))
	c := dashboard.Config{
		Sessions: h.access, Access: h.access, Pathways: h.pathways, Tests: h.tests, Issues: h.issues, Runs: runsOn,
		Calls: must(call.New(call.Config{
			Store: agentstore.Calls{DB: db}, Leases: leases, Atomic: db, Work: work, Line: agentstest.NewLine(agentstest.PhoneConfig{}),
			Recognizer: &agentstest.Recognizer{}, Synthesizer: &agentstest.Synthesizer{}, Recordings: h.recordings, Node: "n",
			NewBrain: func(context.Context, call.Call) (conversation.Brain, error) { return nil, callwright.ErrUnavailable },
		})),
		Speech: must(speech.New(speech.Config{
			Engine: new(speechtest.Engine), Cloner: new(speechtest.Cloner), Decoder: audiofile.Decoder{}, Voices: speechstore.Voices{DB: db},
			Samples: speechstore.Samples{DB: db}, Blobs: must(filestore.NewBlobs(filepath.Join(folder, "speech"))), Atomic: db, Work: work,
			Key: callwright.Secret(strings.Repeat("k", 32)),
		})),
	}
	h.servePorts(&c, work)
	h.serveTrunks(&c, work, leases)
	pages := must(dashboard.New(c))
	server := httptest.NewServer(pages)
	h.url = server.URL
	tb.Cleanup(func() {
		_ = pages.Close(context.Background())
		server.Close()
		h.issues.Close()
		_ = errors.Join(h.recordings.Close(), db.Close())
	})
	return h
}

// runsOn is the description of the program's adapters that the overview shows.
var runsOn = []dashboard.Part{{Name: "model", By: "scripted", Hint: "--llm-base-url"}, {Name: "voices", By: "none", Missing: true, Hint: "--tts"}, {Name: "storage", By: "SQLite"}}

func (h *house) servePorts(c *dashboard.Config, work callwright.Work) {
	c.Documents = must(document.New(document.Config{
		Store: portingstore.Documents{DB: h.db}, Blobs: portingstore.Blobs{DB: h.db}, Work: work,
	}))
	c.Letters = must(loa.New(loa.Config{
		Provider: "Acme Telecom", Store: portingstore.Letters{DB: h.db}, Atomic: h.db, Work: work, Mailer: outside{}, Renderer: loatest.Plain{},
		Key: callwright.Secret(strings.Repeat("k", loa.MinKey)), URL: func(token string) string { return "https://voice.example.com/loa/" + token },
	}))
	c.Ports = must(porting.New(porting.Config{
		Store: portingstore.Requests{DB: h.db}, Atomic: h.db, Work: work, Documents: c.Documents, Letters: c.Letters, Inbound: outside{},
		Gateway:  must(portgateway.NewSimulated(portgateway.SimulatedConfig{Secret: "carrier-secret"})),
		Notifier: outside{}, URLs: outside{},
	}))
	c.Letters.Attach(c.Ports)
}

func (h *house) serveTrunks(c *dashboard.Config, work callwright.Work, leases node.Leases) {
	stored, statuses, log := sipstore.Trunks{DB: h.db}, sipstore.Statuses{DB: h.db}, sipstore.CallLog{DB: h.db}
	tenants := orgstore.Tenants{DB: h.db}
	h.trunks = must(sip.New(sip.Config{
		Store: stored, Atomic: h.db, Numbers: outside{}, Statuses: statuses, Registrations: sipstore.Registrations{DB: h.db},
		Monitor: must(monitor.New(monitor.Config{
			Statuses: statuses, Trunks: stored, Attempts: log, Atomic: h.db, Work: work, Prober: outside{}, Organizations: tenants,
		})),
		Codecs: []string{"PCMU", "PCMA"}, DerivationKey: callwright.Secret(strings.Repeat("k", 32)),
	}))
	c.CallLog = must(calllog.New(calllog.Config{Store: log, Leases: leases, Monitor: outside{}, Node: "n"}))
	c.Trunks = h.trunks
	c.Discoveries = must(discovery.New(discovery.Config{
		Store: sipstore.Discoveries{DB: h.db}, Prober: outside{},
		Resolver: must(resolve.New(resolve.Config{DNS: loopbackDNS{}})),
	}))
	c.Proofs = must(proof.New(proof.Config{
		Store: sipstore.Proofs{DB: h.db}, Atomic: h.db, Work: work, Trunks: h.trunks, Announcer: outside{}, Key: callwright.Secret(strings.Repeat("k", 32)),
	}))
	c.TestCalls = must(testcall.New(testcall.Config{Store: sipstore.TestCalls{DB: h.db}, Trunks: h.trunks, Line: outside{}, Work: work}))
	c.Setup = must(setup.New(setup.Config{Drafts: sipstore.Drafts{DB: h.db}, Work: work, Trunks: h.trunks, Organizations: tenants, Regions: []setup.Region{
		{Name: "home", Addresses: []string{netip.MustParseAddr("192.0.2.10").String()}, Host: "sip.example.net", Port: 5061, RTPLow: 10000, RTPHigh: 20000},
	}}))
}

// signIn returns a client with a session of an organization. It creates the organization, with EntitlementSIP, if it is absent.
func (h *house) signIn(tb testing.TB, org callwright.OrgID) *http.Client {
	tb.Helper()
	if _, err := h.access.Organization(tb.Context(), org); err != nil {
		must(h.access.CreateOrganization(tb.Context(), org, string(org), callwright.EntitlementSIP))
	}
	key := must(h.access.CreateKey(tb.Context(), org, "bench", 0)).Key.Reveal()
	client := &http.Client{
		Jar: must(cookiejar.New(nil)), Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 1000},
	}
	tb.Cleanup(client.CloseIdleConnections)
	page := pagetest.Send(tb, client, h.url+"/login", nil).Body
	token := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(page)[1]
	page = pagetest.Send(tb, client, h.url+"/login", url.Values{"csrf": {token}, "key": {key}, "next": {"/"}}).Body
	if !strings.Contains(page, "<h1>Overview") {
		tb.Fatal(page)
	}
	return client
}

// minutesAgo returns the time n minutes ago, in UTC and whole seconds.
func minutesAgo(n int) time.Time {
	return time.Now().UTC().Truncate(time.Second).Add(-time.Duration(n) * time.Minute)
}
