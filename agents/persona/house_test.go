package persona_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/persona"
)

const org = callwright.OrgID("a")

// house is a service with its environment.
type house struct {
	*persona.Service

	t       *testing.T
	memory  *memstore.Store
	store   agentstore.Personas
	work    work
	clock   clock
	numbers numbers
}

// newHouse returns a service with a store in memory; change may alter its configuration.
func newHouse(t *testing.T, change ...func(*persona.Config)) *house {
	t.Helper()
	memory := memstore.New()
	h := &house{t: t, memory: memory, store: agentstore.Personas{Store: memory}}
	h.clock.now = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	c := persona.Config{
		Store: h.store, Atomic: memory, Pathways: pathways{"order": nil, "down": callwright.ErrUnavailable},
		Requests: public{}, Voices: engines{}, Languages: engines{}, Numbers: &h.numbers, Work: &h.work, Runtime: callwright.Runtime{Clock: &h.clock},
	}
	for _, f := range change {
		f(&c)
	}
	s, err := persona.New(c)
	if err != nil {
		t.Fatal(err)
	}
	h.Service = s
	return h
}

// create creates a persona in production.
func (h *house) create(name string) persona.Record {
	h.t.Helper()
	r, err := h.Create(h.t.Context(), org, persona.Persona{Name: name}, persona.Version{Orchestration: "Book tables."})
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// update changes a persona.
func (h *house) update(id string, c persona.Change) persona.Record {
	h.t.Helper()
	r, err := h.Update(h.t.Context(), org, id, c)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func (h *house) promote(id string) persona.Record {
	h.t.Helper()
	r, err := h.Promote(h.t.Context(), org, id)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// prompt changes the orchestration prompt.
func prompt(text string) persona.Change { return persona.Change{Orchestration: callwright.Given(text)} }

// wantError checks the code and the field of an error.
func wantError(t *testing.T, name string, err error, code callwright.Code, field string) {
	t.Helper()
	e, ok := errors.AsType[*callwright.Error](err)
	if !ok || e.Code != code || e.Field != field {
		t.Errorf("%s: got %v, want %s about %q", name, err, code, field)
	}
}

func same(t *testing.T, a, b any) bool {
	t.Helper()
	first, err1 := json.Marshal(a)
	second, err2 := json.Marshal(b)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return string(first) == string(second)
}

// pathways holds the pathways in production, and errors of others.
type pathways map[string]error

func (p pathways) Load(
	_ context.Context, _ callwright.OrgID, id string, sel pathway.Selector,
) (*graph.Graph, int, error) {
	err, known := p[id]
	if !known || sel.Environment != pathway.Production {
		err = callwright.InField("pathway_id", callwright.NotFound("pathway"))
	}
	return nil, 1, err
}

// public lets requests go to https addresses.
type public struct{}

func (public) CheckURL(url string) error {
	if !strings.HasPrefix(url, "https://") {
		return callwright.Invalid("", "must begin with https://")
	}
	return nil
}

// engines speak and understand English, with one voice.
type engines struct{}

func (engines) CheckVoice(_ context.Context, _ callwright.OrgID, voice, _ string) error {
	if voice != "" && voice != "slt" {
		return callwright.Invalid("voice", "there is no voice %q", voice)
	}
	return nil
}

func (engines) CheckLanguage(language string) error {
	if language != "" && language != "en" {
		return callwright.Invalid("language", "must be English")
	}
	return nil
}

// numbers holds the inbound numbers of personas.
type numbers map[string][]callwright.PhoneNumber

func (n *numbers) NumbersOf(
	context.Context, callwright.OrgID, []string,
) (map[string][]callwright.PhoneNumber, error) {
	return *n, nil
}

// work keeps the periodic work that is registered.
type work struct {
	callwright.Work

	periodic callwright.Handler
}

func (w *work) Every(_ callwright.Queue, _ string, _ time.Duration, h callwright.Handler) {
	w.periodic = h
}

// clock is a second later each time.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}
