package join_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/join"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/triage"
)

// org is the organization that owns all data in these tests.
const org = "a"

// began is the default creation time of a call.
var began = time.Date(2026, 3, 2, 9, 15, 0, 0, time.UTC)

// house contains in-memory stores of calls and pathways, with their resolvers.
type house struct {
	t        *testing.T
	store    *memstore.Store
	work     *memstore.Work
	line     *agentstest.Line
	calls    join.Calls
	pathways join.Pathways
	service  *call.Service // nil before serve
}

func newHouse(t *testing.T) *house {
	t.Helper()
	store := memstore.New()
	h := &house{t: t, store: store, work: memstore.NewWork(store, nil), line: agentstest.NewLine(agentstest.PhoneConfig{})}
	h.pathways.Service = must(pathway.New(pathway.Config{
		Store: agentstore.Pathways{Store: store}, Chats: agentstore.Chats{Store: store}, Atomic: store, Work: h.work,
		Interpreter: &pathway.Interpreter{Model: silent{}, Requests: &agentstest.Requests{}},
	}))
	h.calls = join.Calls{Store: agentstore.Calls{Store: store}}
	return h
}

// serve creates the call service of the house. change adjusts its configuration.
func (h *house) serve(change func(*call.Config)) {
	h.t.Helper()
	config := call.Config{
		Store: h.calls.Store, Leases: memstore.Leases{Store: h.store}, Atomic: h.store, Work: h.work, Line: h.line, Routes: routes{},
		Agents: must(agents.New(agents.Config{
			Numbers: agentstore.Numbers{Store: h.store}, WebAgents: agentstore.WebAgents{Store: h.store}, Atomic: h.store,
		})), Model: silent{}, Recordings: struct{ call.Recordings }{}, Notifier: struct{ call.Notifier }{},
		Recognizer: &agentstest.Recognizer{}, Synthesizer: &agentstest.Synthesizer{}, Node: "n1", Pathways: h.pathways.Service,
	}
	change(&config)
	h.service = must(call.New(config))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// seed stores a call with its transcript in the house's organization, as version 1. If CreatedAt is zero, it becomes began.
func (h *house) seed(c call.Call, said ...call.Entry) {
	h.t.Helper()
	c.Org, c.Version = org, 1
	if c.CreatedAt.IsZero() {
		c.CreatedAt = began
	}
	store := agentstore.Calls{Store: h.store}
	if err := store.Insert(h.t.Context(), c); err != nil {
		h.t.Fatal(err)
	}
	for _, e := range said {
		if err := store.Append(h.t.Context(), org, c.ID, e); err != nil {
			h.t.Fatal(err)
		}
	}
}

// draw creates a pathway with the given nodes and edges.
func (h *house) draw(nodes, edges []string) pathway.Pathway {
	h.t.Helper()
	p, err := h.pathways.Service.Create(h.t.Context(), org, pathway.Draft{
		Name: "Clinic", Description: "Takes bookings.", Document: document(nodes, edges),
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

func document(nodes, edges []string) (d graph.Document) {
	for _, n := range nodes {
		d.Nodes = append(d.Nodes, json.RawMessage(n))
	}
	for _, e := range edges {
		d.Edges = append(d.Edges, json.RawMessage(e))
	}
	return d
}

// read returns the evidence about a resource, and the facts and lines of the evidence as one text. It checks that the facts can be encoded
// as JSON.
func (h *house) read(l triage.ResourceResolver, id string) (triage.Evidence, string) {
	h.t.Helper()
	e, err := l.Read(h.t.Context(), org, id)
	if err != nil {
		h.t.Fatal(err)
	}
	raw, err := json.Marshal(e.Facts)
	if err != nil {
		h.t.Fatal(err)
	}
	return e, fmt.Sprint(string(raw), e.Lines)
}

// marker is the value of the secrets of calls, pathways and port requests in these tests.
const marker = "hunter2"

// checkSecrets checks that text does not contain marker, and that the evidence describes what it omits.
func checkSecrets(t *testing.T, e triage.Evidence, text string) {
	t.Helper()
	if at := strings.Index(text, marker); at >= 0 {
		t.Errorf("a secret comes through: %s", text[max(at-100, 0):at+len(marker)])
	}
	if e.Facts["left_out"] == nil {
		t.Errorf("nothing says what is left out: %v", e.Facts)
	}
}

// routes assigns the same caller number to every outgoing call.
type routes struct{}

func (routes) Caller(context.Context, callwright.OrgID, callwright.PhoneNumber) (callwright.PhoneNumber, error) {
	return "+15550000001", nil
}

// silent is a model whose answers do not matter, because it is never called.
type silent struct{}

func (silent) Name() string { return "silent" }

func (silent) Reply(context.Context, llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(func(llm.ReplyPart, error) bool) {}
}

func (silent) Answer(context.Context, llm.Question) (llm.Answer, error) {
	return llm.Answer{}, &llm.Failure{Class: llm.ClassUnsupported, Message: "it is silent"}
}
