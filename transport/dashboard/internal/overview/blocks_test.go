package overview_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentteststore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/adapters/portgateway"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/document"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/porting/loa/loatest"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/siptest"
	"github.com/callwright/callwright/transport/dashboard/internal/overview"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/triage"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// quiet is a fake of the services' dependencies. Every method succeeds and does nothing.
type quiet struct{}

func (quiet) SendMail(context.Context, string, string, string, string) error { return nil }
func (quiet) CheckURL(string) error                                          { return nil }
func (quiet) NotifyPort(context.Context, string, porting.Request, porting.Entry) error {
	return nil
}

func (quiet) RegisterInbound(context.Context, callwright.OrgID, callwright.PhoneNumber) error {
	return nil
}

func (quiet) ReleaseInbound(context.Context, callwright.OrgID, callwright.PhoneNumber) error {
	return nil
}

// pathways is a group.Pathways that no test calls.
type pathways struct{ group.Pathways }

// house contains every service of the overview except calls, with stores in memory.
type house struct {
	overview.Config
	store *memstore.Store
}

func open() *house {
	store, now := memstore.New(), &clock{time.Date(2026, 3, 2, 15, 30, 0, 0, time.UTC)}
	work, key := memstore.NewWork(store, nil), callwright.Secret(strings.Repeat("k", 32))
	documents := must(document.New(document.Config{Store: portingstore.Documents{Store: store}, Blobs: portingstore.Blobs{Store: store}, Work: work}))
	letters := must(loa.New(loa.Config{
		Provider: "Acme Telecom", Store: portingstore.Letters{Store: store}, Atomic: store, Work: work, Mailer: quiet{}, Renderer: loatest.Plain{},
		Key: key, URL: func(token string) string { return token },
	}))
	h := &house{store: store}
	h.Config = overview.Config{
		Runtime: callwright.Runtime{Clock: now},
		Trunks: must(sip.New(sip.Config{
			Store: sipstore.Trunks{Store: store}, Atomic: store, Statuses: sipstore.Statuses{Store: store},
			Registrations: sipstore.Registrations{Store: store}, Codecs: []string{"PCMU"}, DerivationKey: key,
			Runtime: callwright.Runtime{Clock: now},
		})),
		Ports: must(porting.New(porting.Config{
			Store: portingstore.Requests{Store: store}, Atomic: store, Work: work, Documents: documents, Letters: letters, Inbound: quiet{},
			Gateway: must(portgateway.NewSimulated(portgateway.SimulatedConfig{Secret: "carrier-secret"})), Notifier: quiet{}, URLs: quiet{},
		})),
		Tests: must(agenttest.New(agenttest.Config{
			Store: agentteststore.Store{Store: store}, Atomic: store, Work: work, Leases: memstore.Leases{Store: store}, Node: "n",
			Pathways: pathways{},
			Engine: must(engine.New(engine.Config{
				Runner: &agenttesttest.Runner{}, Model: &agentstest.Model{}, Judge: func(llm.Model) assert.Judge { return nil },
			})),
		})),
		Issues: must(triage.New(triage.Config{Store: triagestore.Store{Store: store}, Atomic: store, Work: work})),
	}
	return h
}

// show returns the page for a user with the given entitlements.
func (h *house) show(t *testing.T, rights ...callwright.Entitlement) string {
	t.Helper()
	site := must(page.New(page.Config{Authenticator: signedIn{rights}, Areas: []page.Area{overview.New(h.Config)}}))
	status, text := ask(t, site)
	if status != http.StatusOK {
		t.Fatalf("got %d\n%s", status, text)
	}
	return text
}

func TestBlocksWithoutAnything(t *testing.T) {
	t.Parallel()
	h := open()
	text := h.show(t, callwright.EntitlementSIP)
	for _, first := range []string{`href="/trunks/new"`, `href="/ports/new"`, `href="/tests"`, `href="/issues/new"`} {
		if !strings.Contains(text, first) {
			t.Errorf("there is no %s in\n%s", first, text)
		}
	}
	if text := h.show(t); strings.Contains(text, `"/trunks`) || strings.Contains(text, `"/ports`) || !strings.Contains(text, `"/issues`) {
		t.Errorf("without the right to use SIP:\n%s", text)
	}
}

// TestBlocks checks that each block shows at most 10 rows, and no passed runs, closed issues or data of other organizations.
func TestBlocks(t *testing.T) {
	t.Parallel()
	h := open()
	for i := range 15 {
		for name, err := range map[string]error{
			"trunk": h.trunk(t, i), "ports": h.port(t, fmt.Sprint("p", i), "acme", porting.InProgress, i),
			"a foreign port": h.port(t, fmt.Sprint("foreign", i), "other", porting.InProgress, i),
			"run":            h.run(t, fmt.Sprint("r", i), "acme", run.Failed, i), "a run that has passed": h.run(t, fmt.Sprint("ok", i), "acme", run.Passed, i),
			"a foreign run": h.run(t, fmt.Sprint("foreign", i), "other", run.Failed, i),
		} {
			if err != nil {
				t.Fatal(name, err)
			}
		}
		must(h.Issues.Create(t.Context(), "acme", triage.System(), triage.Draft{Title: fmt.Sprint("<script> ", i)}))
		must(h.Issues.Create(t.Context(), "acme", triage.System(), triage.Draft{Title: fmt.Sprint("over ", i), Status: triage.StatusDone}))
		must(h.Issues.Create(t.Context(), "other", triage.System(), triage.Draft{Title: fmt.Sprint("foreign ", i)}))
	}
	if err := h.port(t, "signed-by-nobody", "acme", porting.WaitingForSignature, 400); err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if err := h.port(t, fmt.Sprint("later", i), "acme", porting.Submitted, 20+i); err != nil {
			t.Fatal(err)
		}
	}
	requests := portingstore.Requests{Store: h.store}
	held := must(requests.Request(t.Context(), "acme", "p14"))
	held.HeldSince, held.Numbers[0].Failure = h.Clock.Now(), &porting.Failure{Code: porting.PINRequired}
	if err := requests.UpdateRequest(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	text := h.show(t, callwright.EntitlementSIP)
	for pattern, want := range map[string]int{
		`href="/trunks/&#43;1415555`: 10, "<title id=\"trunk-": 10, `href="/ports/p`: 9, `href="/tests/runs/r`: 10, `href="/issues/`: 10, "&lt;script&gt;": 10,
		"foreign": 0, "<script> ": 0, "over ": 0, "/tests/runs/ok": 0, `href="/ports/signed-by-nobody"`: 1, "waits for the <strong>signer": 1,
		"waits for the <strong>carrier": 8, "waits for the <strong>customer</strong>, held since": 1, `href="/ports/p14"`: 1, "/ports/later": 0, ", created": 10, "1 unreachable": 1, "14 healthy": 1, "up for 50.0% of the time that is known": 1,
	} {
		got := strings.Count(text, pattern)
		if got != want {
			t.Errorf("%s is there %d times, want %d", pattern, got, want)
		}
	}
	if bad, good := strings.Index(text, "&#43;14155550003"), strings.Index(text, "&#43;14155550000"); bad < 0 || good < 0 || bad > good {
		t.Error("the trunk that cannot be reached is not the first")
	}
	if t.Failed() {
		t.Log(text)
	}
}

// trunk stores the trunk with index i, which is healthy for a minute. The trunk with index 3 is then unreachable for a minute.
func (h *house) trunk(t *testing.T, i int) error {
	t.Helper()
	number := callwright.PhoneNumber(fmt.Sprintf("+141555500%02d", i))
	now := h.Clock.Now()
	err := sipstore.Trunks{Store: h.store}.Insert(t.Context(), sip.Trunk{ID: fmt.Sprint("t", i), Org: "acme", Number: number, Direction: sip.Outbound, CreatedAt: now})
	if err != nil {
		return err
	}
	s := sip.Status{
		TrunkID: fmt.Sprint("t", i), Org: "acme", Number: number,
		Servers: []sip.ServerStatus{{Server: failover.Server{Host: fmt.Sprintf("pbx%d.example.com", i), Port: 5061}, Health: health.Server{State: health.Healthy}}},
	}
	s.History = s.History.Lasted(health.Healthy, now.Add(-2*time.Minute)).Lasted(health.Healthy, now.Add(-time.Minute))
	if i == 3 {
		s.Servers[0].Health.State = health.Unreachable
		s.History = s.History.Lasted(health.Unreachable, now)
	}
	return siptest.StageStatus(t.Context(), sipstore.Statuses{Store: h.store}, s)
}

// port stores a port request that was created the given number of hours ago.
func (h *house) port(t *testing.T, id string, org callwright.OrgID, state porting.State, hours int) error {
	t.Helper()
	at := h.Clock.Now().Add(-time.Duration(hours) * time.Hour)
	return portingstore.Requests{Store: h.store}.InsertRequest(t.Context(), porting.Request{
		ID: id, Org: org, State: state, CreatedAt: at, Revision: 1, Entries: 1,
		Numbers: []porting.Number{{Number: callwright.PhoneNumber(fmt.Sprintf("+1415%d%06d", len(id)%10, hours)), State: porting.NumberSubmitted}},
	}, porting.Entry{Number: 1, At: at, To: state})
}

// run stores a test run that was created the given number of hours ago, and its snapshot.
func (h *house) run(t *testing.T, id string, org callwright.OrgID, state run.State, hours int) error {
	t.Helper()
	at, store := h.Clock.Now().Add(-time.Duration(hours)*time.Hour), agentteststore.Store{Store: h.store}
	if err := store.InsertSnapshots(t.Context(), []run.Snapshot{{ID: "snap-" + id, Org: org, CreatedAt: at}}); err != nil {
		return err
	}
	return store.InsertRuns(t.Context(), []run.Run{{
		ID: id, Org: org, Scenario: "s", Name: "Pays a bill", Pathway: "p", Version: 1, Snapshot: "snap-" + id, State: state, CreatedAt: at,
		StartedAt: at, EndedAt: at, Revision: 1,
	}})
}
