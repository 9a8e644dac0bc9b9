package agentstest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/callwrighttest"
)

// at is a time without a fraction of a microsecond, because both databases store microseconds.
var at = time.Date(2026, 5, 4, 3, 2, 1, 123456000, time.UTC)

// RunNumberStore tests an agents.NumberStore. See RunCallStore for newStore and atRest.
func RunNumberStore(t *testing.T, newStore func(t *testing.T) agents.NumberStore, atRest callwrighttest.AtRest[agents.NumberStore]) {
	t.Helper()
	callwrighttest.RunRows(t, callwrighttest.RowsHarness[agents.NumberStore, agents.InboundNumber]{
		New: newStore,
		Value: func(_ *testing.T, number int) agents.InboundNumber {
			return aNumber(callwright.PhoneNumber(fmt.Sprint("+1555000000", number)))
		},
		Partial: true,
		Equal:   func(t *testing.T, got, want agents.InboundNumber) bool { t.Helper(); return sameJSON(t, got, want) },
		Org:     func(n *agents.InboundNumber) *callwright.OrgID { return &n.Org },
		PerOrg:  true,
		Version: func(n *agents.InboundNumber) *int64 { return &n.Version },
		Insert:  agents.NumberStore.InsertNumber,
		Find: func(s agents.NumberStore, ctx context.Context, n agents.InboundNumber) (agents.InboundNumber, error) {
			return s.Number(ctx, n.Org, n.Number)
		},
		Change: func(n *agents.InboundNumber, writer int) {
			n.Agent, n.UpdatedAt = agents.Agent{MaxDuration: time.Duration(writer+1) * time.Minute}, at.Add(time.Hour)
		},
		Replace: agents.NumberStore.UpdateNumber,
		Page:    agents.NumberStore.Numbers, Ascending: true,
		Place: func(n agents.InboundNumber) callwright.Keyset { return callwright.Keyset{ID: n.Number.String()} },
		Secret: func(*testing.T) agents.InboundNumber {
			n := aNumber("+15550000001")
			n.Org, n.Agent = callwrighttest.VisibleID, secretAgent()
			return n
		},
		Secrets: agentSecrets,
		AtRest:  atRest,
	})
	tests := map[string]func(*testing.T, agents.NumberStore){
		"tells nothing from an empty list": keepsEmptyListsOfNumber,
		"lists by number":                  listsNumbers,
		"bounds the bytes of a list":       boundsNumbers,
		"lists the numbers of personas":    listsNumbersOf,
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
		Refused: map[agents.Setting]string{agents.SettingPathway: "no version is in \"production\""},
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

func keepsEmptyListsOfNumber(t *testing.T, s agents.NumberStore) {
	none, empty := aNumber("+15550000001"), aNumber("+15550000002")
	none.Agent = agents.Agent{}
	empty.Agent = agents.Agent{Tools: []json.RawMessage{}, DynamicData: []agents.DynamicData{}}
	for _, n := range []agents.InboundNumber{none, empty} {
		insertNumber(t, s, n)
		wantNumber(t, s, n)
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

// boundsNumbers checks that Numbers stops early when large agents exceed agents.MaxRead.
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

// listsNumbersOf checks that NumbersOf returns the numbers of two personas, and a moved number only for its new persona. It must omit
// absent personas, released numbers, and another organization's numbers.
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
