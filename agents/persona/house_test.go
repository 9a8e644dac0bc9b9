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

// house is a Service with a store in memory and fakes for its ports.
type house struct {
	*persona.Service

	t       *testing.T
	memory  *memstore.Store
	store   agentstore.Personas
	work    work
	clock   clock
	numbers numbers
}

// newHouse returns a house. change may alter the service's configuration.
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

// create creates a persona with a version in production.
func (h *house) create(name string) persona.Record {
	h.t.Helper()
	r, err := h.Create(h.t.Context(), org, persona.Persona{Name: name}, persona.Version{Orchestration: "Book tables."})
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// update changes a persona and returns the result.
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

// prompt returns a change of the orchestration prompt.
func prompt(text string) persona.Change { return persona.Change{Orchestration: callwright.Given(text)} }

// wantError checks that err is a *callwright.Error with a code and a field.
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

// pathways is a Pathways that maps pathway ids to the errors of Load. A nil error means that the pathway is in production. For other ids
// and environments, Load returns CodeNotFound.
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

// public permits requests only to https URLs.
type public struct{}

func (public) CheckURL(url string) error {
	if !strings.HasPrefix(url, "https://") {
		return callwright.Invalid("", "must begin with https://")
	}
	return nil
}

// engines checks voices and languages: besides the empty defaults, it accepts only English and one voice.
type engines struct{}

func (engines) CheckVoice(_ context.Context, _ callwright.OrgID, voice, _ string) error {
	if voice != "" && voice != "slt" {
		return callwright.Invalid("voice", "unknown voice %q", voice)
	}
	return nil
}

func (engines) CheckLanguage(language string) error {
	if language != "" && language != "en" {
		return callwright.Invalid("language", "must be English")
	}
	return nil
}

// numbers is a Numbers that contains the inbound numbers by persona id.
type numbers map[string][]callwright.PhoneNumber

func (n *numbers) NumbersOf(
	context.Context, callwright.OrgID, []string,
) (map[string][]callwright.PhoneNumber, error) {
	return *n, nil
}

// work is a Work that stores the registered periodic handler.
type work struct {
	callwright.Work

	periodic callwright.Handler
}

func (w *work) Every(_ callwright.Queue, _ string, _ time.Duration, h callwright.Handler) {
	w.periodic = h
}

// clock is a clock that advances by a second at every read.
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
