package agenttests_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/adapters/memstore/agentteststore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/transport/dashboard"
	"github.com/callwright/callwright/transport/dashboard/pagetest"
	"github.com/callwright/callwright/triage"
)

const org = callwright.OrgID("org")

// created is the default creation time of the runs in a test.
var created = time.Date(2026, 3, 2, 9, 15, 0, 0, time.UTC)

// somebody is a page.Authenticator that identifies every request as the same user.
type somebody struct{}

func (somebody) Authenticate(*http.Request) (callwright.Principal, error) {
	return callwright.Principal{Org: org, KeyID: "k", KeyName: "Robin"}, nil
}

// pathways contains the pathways "p1" and "p3" with the versions 1 to 9.
type pathways struct{}

func (pathways) Load(_ context.Context, of callwright.OrgID, id string, sel pathway.Selector) (*graph.Graph, int, error) {
	switch {
	case of != org, id != "p1" && id != "p3":
		return nil, 0, callwright.InField("pathway_id", callwright.NotFound("pathway"))
	case sel.Number > 9:
		return nil, 0, callwright.InField("pathway_version", callwright.NotFound("version"))
	}
	return &graph.Graph{}, max(1, sel.Number), nil
}

func (pathways) Publish(context.Context, callwright.OrgID, string, pathway.Publication) (pathway.Published, error) {
	return pathway.Published{}, nil
}

func (pathways) FinishTests(context.Context, callwright.OrgID, string) error { return nil }

// versions contains version 1 of the pathway "p1", which is in production.
type versions struct{}

func (versions) Version(_ context.Context, of callwright.OrgID, id string, number int) (pathway.Version, pathway.Pathway, error) {
	if of != org || id != "p1" || number > 1 {
		return pathway.Version{}, pathway.Pathway{}, callwright.NotFound("version")
	}
	return pathway.Version{Number: number}, pathway.Pathway{ID: id, Production: 1}, nil
}

func (versions) Versions(
	context.Context, callwright.OrgID, string, callwright.Keyset, int,
) (callwright.Page[pathway.Version], pathway.Pathway, error) {
	return callwright.Page[pathway.Version]{}, pathway.Pathway{}, nil
}

func (versions) Fork(context.Context, callwright.OrgID, string, int, string, *graph.Document) (pathway.Version, error) {
	return pathway.Version{}, nil
}

func (versions) Discard(context.Context, callwright.OrgID, string, int) error { return nil }

// fixer is a tornado.Fixer that returns empty plans.
type fixer struct{}

func (fixer) Fix(context.Context, string, tornado.Brief) (tornado.Plan, error) {
	return tornado.Plan{}, nil
}

// house is the dashboard of an organization, with its data in memory. Nothing executes the runs that it queues.
type house struct {
	*httptest.Server
	t      *testing.T
	tests  *agenttest.Service
	store  agentteststore.Store
	found  agentteststore.Sessions
	drawn  *pathway.Service
	people *persona.Service
	client *http.Client
}

func open(t *testing.T, change ...func(*tornado.Config)) *house {
	t.Helper()
	memory := memstore.New()
	h := &house{t: t, store: agentteststore.Store{Store: memory}, found: agentteststore.Sessions{Store: memory}}
	work := memstore.NewWork(memory, nil)
	h.tests = must(agenttest.New(agenttest.Config{
		Store: h.store, Atomic: memory, Work: work, Leases: memstore.Leases{Store: memory}, Node: "n1", Pathways: pathways{},
		Engine: must(engine.New(engine.Config{
			Runner: &agenttesttest.Runner{}, Model: &agentstest.Model{}, Judge: func(llm.Model) assert.Judge { return nil },
		})),
	}))
	searches := tornado.Config{
		Store: h.found, Atomic: memory, Work: work, Leases: memstore.Leases{Store: memory}, Node: "n1", Pathways: versions{}, Runs: h.tests,
		Fixer: fixer{},
	}
	for _, f := range change {
		f(&searches)
	}
	tornados := must(tornado.New(searches))
	drawn := must(pathway.New(pathway.Config{
		Store: agentstore.Pathways{Store: memory}, Chats: agentstore.Chats{Store: memory}, Atomic: memory, Work: work, Gate: &agentstest.Gate{},
		Interpreter: &pathway.Interpreter{Model: scripted.New()}, Runtime: callwright.Runtime{IDs: &ids{}},
	}))
	h.document(drawn, graph.Document{
		Nodes: raws(`{"id": "end", "type": "End Call", "data": {"text": "Bye."}}`,
			`{"id": "start", "type": "Default", "data": {"name": "Greet", "isStart": true, "text": "Hello."}}`),
		Edges: raws(`{"id": "e1", "source": "start", "target": "end", "data": {"label": "it is done"}}`),
	})
	h.drawn = drawn
	h.people = must(persona.New(persona.Config{Store: agentstore.Personas{Store: memory}, Atomic: memory}))
	problems := must(triage.New(triage.Config{Store: triagestore.Store{Store: memory}, Atomic: memory, Work: work}))
	site := must(dashboard.New(dashboard.Config{
		Authenticator: somebody{}, Tests: h.tests, Tornado: tornados, Pathways: drawn, Personas: h.people, Issues: problems,
	}))
	t.Cleanup(func() { _ = site.Close(t.Context()) })
	h.Server = httptest.NewServer(site)
	t.Cleanup(h.Close)
	h.client = &http.Client{Transport: new(http.Transport), Jar: must(cookiejar.New(nil))}
	return h
}

// ids returns the ids "p1", "p2" and so on.
type ids struct{ n atomic.Int64 }

func (i *ids) New() string { return fmt.Sprint("p", i.n.Add(1)) }

func raws(texts ...string) (all []json.RawMessage) {
	for _, text := range texts {
		all = append(all, json.RawMessage(text))
	}
	return all
}

// document stores a document as the next version of the pathway "p1". It creates the pathway if necessary.
func (h *house) document(drawn *pathway.Service, d graph.Document) {
	h.t.Helper()
	if _, _, err := drawn.Version(h.t.Context(), org, "p1", 0); err != nil {
		must(drawn.Create(h.t.Context(), org, pathway.Draft{Name: "Pays"}))
	}
	must(drawn.StoreVersion(h.t.Context(), org, "p1", "tested", d))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// check fails the test if err is not nil.
func (h *house) check(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// scenario stores a scenario after change has modified it.
func (h *house) scenario(name string, change func(*scenario.Scenario)) scenario.Scenario {
	h.t.Helper()
	sc := scenario.Scenario{
		Pathway: "p1", Name: name, Enabled: true, CallerPrompt: "Be brief.",
		Assertions: []assert.Assertion{{Type: assert.NodeReached, Name: "pays", Config: json.RawMessage(`{"node_id":"paid"}`), Required: true, Weight: 1}},
	}
	change(&sc)
	sc, err := h.tests.CreateScenario(h.t.Context(), org, sc)
	h.check(err)
	return sc
}

// run stores a passed run after change has modified it.
func (h *house) run(id string, change func(*run.Run)) {
	h.t.Helper()
	r := run.Run{
		ID: id, Org: org, Scenario: "s1", Name: "Pays a bill", Pathway: "p1", Version: 1, Snapshot: "snap-" + id, State: run.Passed,
		CreatedAt: created, StartedAt: created, EndedAt: created.Add(time.Minute), Revision: 1,
		Result: run.Result{Score: new(0.75), Turns: 2, Duration: 4 * time.Second},
	}
	change(&r)
	h.check(h.store.InsertSnapshots(h.t.Context(), []run.Snapshot{{ID: r.Snapshot, Org: r.Org, CreatedAt: created}}))
	h.check(h.store.InsertRuns(h.t.Context(), []run.Run{r}))
}

// want requests a page, checks its status and its texts, and returns it. The page must not contain texts that begin with "!"; want looks
// for them without the "!".
func (h *house) want(status int, path string, texts ...string) string {
	h.t.Helper()
	return h.read(pagetest.Send(h.t, h.client, h.URL+path, nil), status, path, texts...)
}

func (h *house) read(r pagetest.Answer, status int, path string, texts ...string) string {
	h.t.Helper()
	body := r.Body
	if r.Status != status {
		h.t.Errorf("%s: %d, want %d\n%s", path, r.Status, status, body)
	}
	for _, text := range texts {
		if absent, ok := strings.CutPrefix(text, "!"); ok == strings.Contains(body, absent) {
			h.t.Errorf("%s: %q\n%s", path, text, body)
		}
	}
	return body
}

var tokenPattern = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// post sends a form with the CSRF token of the page at the path from, and checks the resulting page as the method want does.
func (h *house) post(from, to string, form url.Values, status int, texts ...string) string {
	h.t.Helper()
	form.Set("csrf", tokenPattern.FindStringSubmatch(h.want(http.StatusOK, from))[1])
	return h.read(pagetest.Send(h.t, h.client, h.URL+to, form), status, to, texts...)
}
