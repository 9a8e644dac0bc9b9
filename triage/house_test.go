package triage_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/triage"
)

// house is a service over a store in memory.
type house struct {
	*triage.Service
	t      testing.TB
	memory *memstore.Store
	clock  *clock
}

func open(t testing.TB, change ...func(*triage.Config)) house {
	t.Helper()
	return openOver(t, memstore.New(), change...)
}

// openOver opens a house over the given store. A second house over the same store acts as another node.
func openOver(t testing.TB, memory *memstore.Store, change ...func(*triage.Config)) house {
	t.Helper()
	h := house{t: t, memory: memory, clock: &clock{now: start}}
	c := triage.Config{
		Store: triagestore.Store{Store: memory}, Atomic: memory, Work: memstore.NewWork(memory, nil), Runtime: callwright.Runtime{Clock: h.clock},
	}
	for _, f := range change {
		f(&c)
	}
	var err error
	if h.Service, err = triage.New(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

var (
	start = time.Date(2026, 5, 4, 3, 2, 1, 123456000, time.UTC)
	ada   = triage.Actor{Kind: triage.ActorUser, ID: "ada", Label: "Ada"}
	bob   = triage.Actor{Kind: triage.ActorUser, ID: "bob", Label: "Bob"}
)

// clock is a clock whose time changes only through its method move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// move adds a duration, which may be negative, to the clock.
func (c *clock) move(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

func (h house) store() triagestore.Store { return triagestore.Store{Store: h.memory} }

// issue creates an issue of the organization "acme".
func (h house) issue(d triage.Draft) triage.Issue {
	h.t.Helper()
	if d.Title == "" {
		d.Title = "Agent books a closed day"
	}
	i, err := h.Create(h.t.Context(), "acme", ada, d)
	if err != nil {
		h.t.Fatal(err)
	}
	return i
}

// get returns a stored issue.
func (h house) get(id string) triage.Issue {
	h.t.Helper()
	i, err := h.Get(h.t.Context(), "acme", id)
	if err != nil {
		h.t.Fatal(err)
	}
	return i
}

// feed returns all entries of an issue, oldest first.
func (h house) feed(id string) []triage.Entry {
	h.t.Helper()
	entries, err := h.store().EntriesAfter(h.t.Context(), "acme", id, callwright.Keyset{}, 1_000_000)
	if err != nil {
		h.t.Fatal(err)
	}
	return entries
}

// types returns the types of entries, in order.
func types(entries []triage.Entry) []triage.EntryType {
	all := make([]triage.EntryType, len(entries))
	for n, e := range entries {
		all[n] = e.Type
	}
	return all
}

// wantError checks that an error has a code and a field.
func wantError(t *testing.T, err error, code callwright.Code, field string) {
	t.Helper()
	e, _ := errors.AsType[*callwright.Error](err)
	if e == nil || e.Code != code || e.Field != field {
		t.Errorf("got %v, want %s of field %q", err, code, field)
	}
}
