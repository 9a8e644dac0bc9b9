package agentstest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/persona"
)

// PersonaStores contains the empty stores of one database for RunPersonaDeletion.
type PersonaStores struct {
	Numbers  agents.NumberStore
	Agents   agents.WebAgents
	Personas persona.Store
	Atomic   callwright.Atomic
}

// RunPersonaDeletion tests a deletion of a persona that is concurrent with the persona's assignment to an inbound number. In either order,
// the first operation must succeed and the second must fail, so that no number refers to a deleted persona.
func RunPersonaDeletion(t *testing.T, newStores func(t *testing.T) PersonaStores) {
	t.Helper()
	for name, deletedFirst := range map[string]bool{"a number that is given a persona keeps it": false, "a persona that is deleted is given to no number": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStores(t)
			m := &hookedStore{NumberStore: s.Numbers, reading: deletedFirst}
			personas, err := persona.New(persona.Config{Store: s.Personas, Atomic: s.Atomic, Numbers: m})
			if err != nil {
				t.Fatal(err)
			}
			numbers, err := agents.New(agents.Config{Numbers: m, WebAgents: s.Agents, Atomic: s.Atomic, Personas: personas})
			if err != nil {
				t.Fatal(err)
			}
			testPersonaDeletion(t, numbers, personas, m)
		})
	}
}

func testPersonaDeletion(t *testing.T, numbers *agents.Service, personas *persona.Service, m *hookedStore) {
	t.Helper()
	const number = callwright.PhoneNumber("+15550000001")
	made, err := personas.Create(t.Context(), "a", persona.Persona{Name: "Eva"}, persona.Version{Orchestration: "Talk."})
	if err := errors.Join(err, numbers.RegisterInbound(t.Context(), "a", number)); err != nil {
		t.Fatal(err)
	}
	id := made.Persona.ID
	remove := func() error { return personas.Delete(t.Context(), "a", id) }
	give := func() error {
		_, report, err := numbers.UpdateInbound(t.Context(), "a", number, agents.Patch{PersonaID: callwright.Given(id)})
		return errors.Join(err, report[agents.SettingPersonaID])
	}
	first, second, refused := give, remove, callwright.ErrConflict
	if m.reading {
		first, second, refused = remove, give, callwright.ErrNotFound
	}
	later := make(chan error, 1)
	m.do = func() {
		go func() { later <- second() }()
		select {
		case err := <-later: // the second operation did not wait
			later <- err
		case <-time.After(holdTime):
		}
	}
	if err := first(); err != nil {
		t.Errorf("the first got %v", err)
	}
	if err := <-later; !errors.Is(err, refused) {
		t.Errorf("the second got %v, want %v", err, refused)
	}
	n, err := numbers.Inbound(t.Context(), "a", number)
	if _, gone := personas.Get(t.Context(), "a", id); err != nil || (n.Agent.PersonaID != "") != (gone == nil) {
		t.Errorf("the number names %q, of which a read gives %v; %v", n.Agent.PersonaID, gone, err)
	}
}

// holdTime is the time within which the second operation finishes if it does not wait for the first operation.
const holdTime = 200 * time.Millisecond

// hookedStore calls the function do once, in the transaction of the first operation: after NumbersOf if reading is set, otherwise before
// UpdateNumber.
type hookedStore struct {
	agents.NumberStore

	reading bool
	do      func()
	once    sync.Once
}

// NumbersOf implements agents.NumberStore. If reading is set, its first call also calls the function do, after the read.
func (m *hookedStore) NumbersOf(
	ctx context.Context, org callwright.OrgID, personas []string,
) (map[string][]callwright.PhoneNumber, error) {
	found, err := m.NumberStore.NumbersOf(ctx, org, personas)
	if m.reading && m.do != nil {
		m.once.Do(m.do)
	}
	return found, err
}

// UpdateNumber implements agents.NumberStore. Unless reading is set, its first call also calls the function do, before the write.
func (m *hookedStore) UpdateNumber(ctx context.Context, n agents.InboundNumber) error {
	if !m.reading && m.do != nil {
		m.once.Do(m.do)
	}
	return m.NumberStore.UpdateNumber(ctx, n)
}
