package pathway_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// office is a Service over empty stores in memory, with fakes for its ports. A test may replace Gate.
type office struct {
	*pathway.Service
	Gate     pathway.Gate
	store    pathway.Store
	chats    pathway.Chats
	gate     *agentstest.Gate
	requests *agentstest.Requests
	clock    *standing
	work     *memstore.Work
}

// standing is a clock that only a test advances.
type standing struct {
	mu  sync.Mutex
	now time.Time
}

func (c *standing) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *standing) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newOffice(tb testing.TB, change ...func(*pathway.Config)) *office {
	tb.Helper()
	store := memstore.New()
	o := &office{
		gate: &agentstest.Gate{}, requests: &agentstest.Requests{}, work: memstore.NewWork(store, nil),
		clock: &standing{now: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)},
	}
	o.Gate = o.gate
	c := pathway.Config{
		Store: agentstore.Pathways{Store: store}, Chats: agentstore.Chats{Store: store}, Atomic: store, Work: o.work, Gate: door{o},
		Interpreter: &pathway.Interpreter{Model: scripted.New(), Requests: o.requests, Runtime: callwright.Runtime{Clock: o.clock}}, Runtime: callwright.Runtime{Clock: o.clock},
	}
	for _, f := range change {
		f(&c)
	}
	s, err := pathway.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	o.Service, o.store, o.chats = s, c.Store, c.Chats
	return o
}

// door passes checks to the office's current Gate.
type door struct{ o *office }

func (d door) Check(ctx context.Context, org callwright.OrgID, c pathway.Candidate) (pathway.Verdict, error) {
	return d.o.Gate.Check(ctx, org, c)
}

// days returns a document that asks for a day and then ends.
func days(question string) graph.Document {
	return document(
		`{"id":"day","type":"Default","data":{"name":"Day","isStart":true,"text":"`+question+`",
			"extractVars":[["day","string","the weekday, \"Tuesday\" or \"Thursday\""]]}}`,
		`{"id":"bye","type":"End Call","data":{"name":"Bye","text":"{{day}} it is. Goodbye."}}`,
		`{"id":"e1","source":"day","target":"bye","label":"day is known"}`,
	)
}

// document returns a document of nodes and edges, given in any order. Edges contain "source".
func document(entries ...string) (d graph.Document) {
	for _, e := range entries {
		if strings.Contains(e, `"source"`) {
			d.Edges = append(d.Edges, json.RawMessage(e))
		} else {
			d.Nodes = append(d.Nodes, json.RawMessage(e))
		}
	}
	return d
}

// create stores a pathway with a draft, and makes the gate require a test of the pathway's versions.
func (o *office) create(tb testing.TB, d graph.Document) pathway.Pathway {
	tb.Helper()
	p, err := o.Create(tb.Context(), "a", pathway.Draft{Name: "Days", Document: d})
	if err != nil {
		tb.Fatal(err)
	}
	o.gate.Require("a", p.ID)
	return p
}

// storeVersion stores a version of a pathway.
func (o *office) storeVersion(tb testing.TB, id string, d graph.Document) pathway.Version {
	tb.Helper()
	v, err := o.StoreVersion(tb.Context(), "a", id, "V", d)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func (o *office) get(tb testing.TB, id string) pathway.Pathway {
	tb.Helper()
	p, err := o.Get(tb.Context(), "a", id)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func wantCode(t *testing.T, what string, err error, code callwright.Code, field string) {
	t.Helper()
	var e *callwright.Error
	if callwright.CodeOf(err) != code || errors.As(err, &e) && e.Field != field {
		t.Errorf("%s gave %v; want %s in %q", what, err, code, field)
	}
}

// TestNewNamesWhatIsMissing checks that the error of New names each missing required field.
func TestNewNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	for name, without := range map[string]func(*pathway.Config){
		"Config.Store":       func(c *pathway.Config) { c.Store = nil },
		"Config.Chats":       func(c *pathway.Config) { c.Chats = nil },
		"Config.Atomic":      func(c *pathway.Config) { c.Atomic = nil },
		"Config.Work":        func(c *pathway.Config) { c.Work = nil },
		"Config.Interpreter": func(c *pathway.Config) { c.Interpreter = nil },
		"Interpreter.Model":  func(c *pathway.Config) { c.Interpreter = new(pathway.Interpreter) },
	} {
		c := pathway.Config{
			Store: agentstore.Pathways{Store: store}, Chats: agentstore.Chats{Store: store}, Atomic: store,
			Work: memstore.NewWork(store, nil), Interpreter: &pathway.Interpreter{Model: scripted.New()},
		}
		without(&c)
		if s, err := pathway.New(c); s != nil || err == nil || err.Error() != "pathway: "+name+" is required" {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	empty, full := o.create(t, graph.Document{}), o.create(t, days("Which day?"))
	if got := o.get(t, full.ID); len(got.Draft.Nodes) != 2 || string(got.Draft.Edges[0]) !=
		`{"id":"e1","source":"day","target":"bye","data":{"label":"day is known"}}` {
		t.Errorf("the draft is %s", got.Draft)
	}
	if got := o.get(t, empty.ID); !got.Draft.Empty() || got.Latest != 0 || got.Revision != 1 {
		t.Errorf("got %+v", got)
	}
	list, err := o.List(t.Context(), "a", pathway.Listing{})
	if err != nil || len(list.Items) != 2 || !list.Next.IsZero() {
		t.Errorf("got %+v, %v", list, err)
	}
	if list, err := o.List(t.Context(), "b", pathway.Listing{}); err != nil || len(list.Items) != 0 {
		t.Errorf("another organization lists %+v, %v", list, err)
	}
	_, err = o.Get(t.Context(), "b", full.ID)
	wantCode(t, "another organization's", err, callwright.CodeNotFound, "")
}

// TestNamesEveryFault checks that errors of graph.Compile and errors that only the service detects are reported together.
func TestNamesEveryFault(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.requests.Check = func(url string) error {
		if strings.Contains(url, "127.0.0.1") {
			return callwright.Invalid("", "must not be a private address")
		}
		return nil
	}
	faulty := document(
		`{"id":"day","type":"Default","data":{"isStart":true,"text":"Hi.","url":"http://127.0.0.1/unused",
			"tools":[{"name":"a","url":"https://x.example/"},{"name":"b","url":"http://127.0.0.1/"}],"modelOptions":{"modelName":"turbo"}}}`,
		`{"id":"hook","type":"Webhook","data":{"url":"http://127.0.0.1/","method":"GET","modelOptions":{"modelType":"gpt-9"}}}`,
		`{"id":"broken","type":"Webhook","data":{"method":"GET","modelOptions":{"modelName":"gpt-9","modelType":5}}}`,
		`{"id":"kb","type":"Knowledge Base","data":{"kbTool":"KB-1","prompt":"Answer."}}`,
		`{"id":"e1","source":"day","target":"nowhere","label":"go"}`,
		`{"id":"e2","source":"day","target":"hook","label":"go"}`,
		`{"id":"e3","source":"day","target":"broken","label":"go"}`,
		`{"id":"e4","source":"day","target":"kb","label":"go"}`,
	)
	want := []string{
		"edges[0].target", "nodes[0].data.tools[1].url", "nodes[1].data.modelOptions.modelType", "nodes[1].data.url",
		"nodes[2].data.modelOptions.modelName", "nodes[2].data.url", "nodes[3].data.kbTool",
	}
	p := o.create(t, graph.Document{})
	_, createErr := o.Create(t.Context(), "a", pathway.Draft{Name: "Days", Document: faulty})
	_, saveErr := o.StoreVersion(t.Context(), "a", p.ID, "V", faulty)
	_, updateErr := o.Update(t.Context(), "a", p.ID, pathway.Change{Nodes: &faulty.Nodes, Edges: &faulty.Edges})
	for name, err := range map[string]error{"create": createErr, "save": saveErr, "update": updateErr} {
		var errs callwright.FieldErrors
		if !errors.As(err, &errs) {
			t.Fatalf("%s gave %v", name, err)
		}
		var fields []string
		for _, f := range errs {
			fields = append(fields, f.Field)
		}
		if slices.Sort(fields); !slices.Equal(fields, want) {
			t.Errorf("%s names %q; want %q", name, fields, want)
		}
	}
	if got := o.get(t, p.ID); got.Revision != 1 || got.Latest != 0 {
		t.Errorf("kept %+v", got)
	}
}

func TestAsksNobodyWithoutRequests(t *testing.T) {
	t.Parallel()
	o := newOffice(t, func(c *pathway.Config) { c.Interpreter.Requests = nil })
	_, err := o.Create(t.Context(), "a", pathway.Draft{Name: "Hook", Document: document(
		`{"id":"hook","type":"Webhook","data":{"isStart":true,"url":"https://x.example/","method":"GET"}}`,
	)})
	wantCode(t, "a webhook", err, callwright.CodeBadRequest, "nodes[0].data.url")
}

func TestRefusesNames(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, days("Which day?"))
	long, wordy := strings.Repeat("\u00e9", pathway.MaxName+1), strings.Repeat("x", pathway.MaxDescription+1)
	blank, fits := " ", strings.Repeat("\u00e9", pathway.MaxName)
	for _, name := range []string{blank, long} {
		_, createErr := o.Create(t.Context(), "a", pathway.Draft{Name: name})
		_, updateErr := o.Update(t.Context(), "a", p.ID, pathway.Change{Name: &name})
		_, saveErr := o.StoreVersion(t.Context(), "a", p.ID, name, days("?"))
		for what, err := range map[string]error{"create": createErr, "update": updateErr, "save": saveErr} {
			wantCode(t, what, err, callwright.CodeBadRequest, "name")
		}
	}
	_, err := o.Update(t.Context(), "a", p.ID, pathway.Change{Description: &wordy})
	wantCode(t, "a long description", err, callwright.CodeBadRequest, "description")
	if _, err := o.Update(t.Context(), "a", p.ID, pathway.Change{Name: &fits}); err != nil {
		t.Error(err)
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, days("Which day?"))
	o.clock.move(time.Hour)
	name, description := "Weeks", "Asks for a week."
	nodes := days("Which week?").Nodes
	got, err := o.Update(t.Context(), "a", p.ID, pathway.Change{Name: &name, Description: &description, Nodes: &nodes})
	if err != nil || got.Revision != 2 {
		t.Fatalf("got %+v, %v", got, err)
	}
	stored := o.get(t, p.ID)
	if stored.Name != name || stored.Description != description || len(stored.Draft.Edges) != 1 ||
		!strings.Contains(string(stored.Draft.Nodes[0]), "week") || !stored.UpdatedAt.Equal(p.UpdatedAt.Add(time.Hour)) {
		t.Errorf("got %+v", stored)
	}
	none := []json.RawMessage{}
	_, err = o.Update(t.Context(), "a", p.ID, pathway.Change{Nodes: &none})
	wantCode(t, "edges without nodes", err, callwright.CodeBadRequest, "edges[0].source")
	if got, err := o.Update(t.Context(), "a", p.ID, pathway.Change{Nodes: &none, Edges: &none}); err != nil || !got.Draft.Empty() {
		t.Errorf("emptied, it is %+v, %v", got, err)
	}
	_, err = o.Update(t.Context(), "b", p.ID, pathway.Change{Name: &name})
	wantCode(t, "another organization's", err, callwright.CodeNotFound, "")
}

// TestUpdateOfRevision checks that a change for another revision than the stored one is refused and has no effect.
func TestUpdateOfRevision(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, days("Which day?"))
	name, other := "Weeks", "Months"
	if _, err := o.Update(t.Context(), "a", p.ID, pathway.Change{Name: &name, Revision: &p.Revision}); err != nil {
		t.Fatal(err)
	}
	_, err := o.Update(t.Context(), "a", p.ID, pathway.Change{Name: &other, Revision: &p.Revision})
	wantCode(t, "an old revision", err, callwright.CodeConflict, "")
	if got := o.get(t, p.ID); got.Name != name || got.Revision != 2 {
		t.Errorf("got %+v", got)
	}
}

// atOnce runs functions concurrently and returns their errors in the order of the functions.
func atOnce(things ...func() error) []error {
	errs := make([]error, len(things))
	var wait sync.WaitGroup
	for i, do := range things {
		wait.Go(func() { errs[i] = do() })
	}
	wait.Wait()
	return errs
}

func TestDelete(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, days("Which day?"))
	o.storeVersion(t, p.ID, days("Which day?"))
	wantCode(t, "another organization's", o.Delete(t.Context(), "b", p.ID), callwright.CodeNotFound, "")
	if err := o.Delete(t.Context(), "a", p.ID); err != nil {
		t.Fatal(err)
	}
	_, getErr := o.Get(t.Context(), "a", p.ID)
	_, _, versionsErr := o.Versions(t.Context(), "a", p.ID, callwright.Keyset{}, 0)
	_, saveErr := o.StoreVersion(t.Context(), "a", p.ID, "V", days("?"))
	for what, err := range map[string]error{
		"get": getErr, "versions": versionsErr, "save": saveErr, "delete": o.Delete(t.Context(), "a", p.ID),
	} {
		wantCode(t, what, err, callwright.CodeNotFound, "")
	}
}
