package agentstest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/callwrighttest"
)

// at is a time in the precision of both databases.
var at = time.Date(2026, 5, 4, 3, 2, 1, 123456000, time.UTC)

// RunNumberStore tests an agents.NumberStore. newStore and atRest are as in RunCallStore.
func RunNumberStore(t *testing.T, newStore func(t *testing.T) agents.NumberStore, atRest callwrighttest.AtRest[agents.NumberStore]) {
	t.Helper()
	tests := map[string]func(*testing.T, agents.NumberStore){
		"keeps every field":                 keepsNumber,
		"encrypts secrets":                  func(t *testing.T, s agents.NumberStore) { encryptsNumber(t, s, atRest) },
		"tells nothing from an empty list":  keepsEmptyListsOfNumber,
		"refuses a number twice":            refusesNumberTwice,
		"hides other organizations'":        hidesNumbers,
		"lists by number":                   listsNumbers,
		"bounds the bytes of a list":        boundsNumbers,
		"lists the numbers of personas":     listsNumbersOf,
		"updates by compare-and-set":        updatesNumber,
		"lets one of many writers be first": racesForNumber,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

func aNumber(number callwright.PhoneNumber) agents.InboundNumber {
	return agents.InboundNumber{
		Org: "a", Number: number, CreatedAt: at, UpdatedAt: at, Version: 1, Agent: fullAgent(),
	}
}

func insertNumber(t *testing.T, s agents.NumberStore, n agents.InboundNumber) {
	t.Helper()
	if err := s.InsertNumber(t.Context(), n); err != nil {
		t.Fatalf("insert %s: %v", n.Number, err)
	}
}

func wantNumber(t *testing.T, s agents.NumberStore, want agents.InboundNumber) {
	t.Helper()
	got, err := s.Number(t.Context(), want.Org, want.Number)
	if err != nil || !sameJSON(t, got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

func keepsNumber(t *testing.T, s agents.NumberStore) {
	full := aNumber("+15550000001")
	insertNumber(t, s, full)
	wantNumber(t, s, full)
}

func keepsEmptyListsOfNumber(t *testing.T, s agents.NumberStore) {
	none, empty := aNumber("+15550000001"), aNumber("+15550000002")
	none.Agent = agents.Agent{}
	empty.Agent = agents.Agent{Tools: []json.RawMessage{}, DynamicData: []agents.DynamicData{}}
	for _, n := range []agents.InboundNumber{none, empty} {
		insertNumber(t, s, n)
		wantNumber(t, s, n)
	}
}

// refusesNumberTwice inserts a number twice, for one organization and for two.
func refusesNumberTwice(t *testing.T, s agents.NumberStore) {
	n := aNumber("+15550000001")
	insertNumber(t, s, n)
	if err := s.InsertNumber(t.Context(), n); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("got %v, want a conflict", err)
	}
	n.Org = "b"
	insertNumber(t, s, n)
}

func hidesNumbers(t *testing.T, s agents.NumberStore) {
	n := aNumber("+15550000001")
	insertNumber(t, s, n)
	n.Org = "b"
	_, getErr := s.Number(t.Context(), "b", n.Number)
	for name, err := range map[string]error{"get": getErr, "update": s.UpdateNumber(t.Context(), n)} {
		if !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%s gave %v, want not found", name, err)
		}
	}
	if got, err := s.Numbers(t.Context(), "b", callwright.Keyset{}, 10); err != nil || len(got) != 0 {
		t.Errorf("list gave %+v, %v", got, err)
	}
}

func listsNumbers(t *testing.T, s agents.NumberStore) {
	second, first, released := aNumber("+15550000001"), aNumber("+15550000000"), aNumber("+15550000003")
	released.Released = true
	insertNumber(t, s, released)
	if got, err := s.Number(t.Context(), "a", released.Number); err != nil || !got.Released {
		t.Errorf("a released number: %+v, %v", got, err)
	}
	insertNumber(t, s, second)
	insertNumber(t, s, first)
	got, err := s.Numbers(t.Context(), "a", callwright.Keyset{}, 10)
	if err != nil || len(got) != 2 || got[0].Number != first.Number {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = s.Numbers(t.Context(), "a", callwright.Keyset{}, 1)
	if err != nil || len(got) != 1 || got[0].Number != first.Number {
		t.Errorf("the first page is %+v, %v", got, err)
	}
	got, err = s.Numbers(t.Context(), "a", callwright.Keyset{ID: first.Number.String()}, 1)
	if err != nil || len(got) != 1 || got[0].Number != second.Number {
		t.Errorf("the second page is %+v, %v", got, err)
	}
}

// boundsNumbers reads numbers with a small limit.
func boundsNumbers(t *testing.T, s agents.NumberStore) {
	for i := range 5 {
		n := aNumber(callwright.PhoneNumber(fmt.Sprintf("+1555000000%d", i)))
		n.Agent.Task = strings.Repeat("x", agents.MaxRead/2)
		insertNumber(t, s, n)
	}
	if got, err := s.Numbers(t.Context(), "a", callwright.Keyset{}, 10); err != nil || len(got) != 2 {
		t.Errorf("of large numbers %d are read, %v; want 2", len(got), err)
	}
}

func updatesNumber(t *testing.T, s agents.NumberStore) {
	stale := aNumber("+15550000001")
	insertNumber(t, s, stale)
	changed := stale
	changed.Agent, changed.UpdatedAt = agents.Agent{Task: "other"}, at.Add(time.Hour)
	if err := s.UpdateNumber(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	if err := s.UpdateNumber(t.Context(), stale); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("a stale update gave %v, want a conflict", err)
	}
	changed.Version = 2
	wantNumber(t, s, changed)
}

func racesForNumber(t *testing.T, s agents.NumberStore) {
	insertNumber(t, s, aNumber("+15550000001"))
	changed := func(writer int) agents.InboundNumber {
		n := aNumber("+15550000001")
		n.Agent = agents.Agent{MaxDuration: time.Duration(writer+1) * time.Minute}
		return n
	}
	want := changed(callwrighttest.Race(t, func(writer int) error { return s.UpdateNumber(t.Context(), changed(writer)) }))
	want.Version = 2
	wantNumber(t, s, want)
}

// listsNumbersOf inserts numbers of two personas, of an absent one, released, moved and of another organization.
func listsNumbersOf(t *testing.T, s agents.NumberStore) {
	with := func(number callwright.PhoneNumber, id string, change func(*agents.InboundNumber)) agents.InboundNumber {
		n := aNumber(number)
		n.Agent = agents.Agent{PersonaID: id}
		if change != nil {
			change(&n)
		}
		insertNumber(t, s, n)
		return n
	}
	with("+15550000003", "desk", nil)
	moved := with("+15550000001", "sales", nil)
	with("+15550000002", "sales", nil)
	with("+15550000004", "desk", func(n *agents.InboundNumber) { n.Released = true })
	with("+15550000005", "desk", func(n *agents.InboundNumber) { n.Org = "b" })
	with("+15550000006", "", nil)
	moved.Agent.PersonaID = "desk"
	if err := s.UpdateNumber(t.Context(), moved); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		ids  []string
		want string
	}{
		{[]string{"desk", "sales", "nobody"}, "map[desk:[+15550000001 +15550000003] sales:[+15550000002]]"},
		{[]string{"sales"}, "map[sales:[+15550000002]]"},
		{nil, "map[]"},
	} {
		got, err := s.NumbersOf(t.Context(), "a", test.ids)
		if err != nil || fmt.Sprint(got) != test.want {
			t.Errorf("the numbers of %q are %v, %v, want %s", test.ids, got, err, test.want)
		}
	}
}
