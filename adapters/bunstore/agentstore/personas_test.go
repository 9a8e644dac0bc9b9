package agentstore_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/agents/persona"
)

// TestPersonaIsChangedByManyAtOnce changes one persona concurrently. The first change creates the draft: no change is lost, and only one
// draft exists.
func TestPersonaIsChangedByManyAtOnce(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		s, err := persona.New(persona.Config{Store: agentstore.Personas{DB: db}, Atomic: db})
		if err != nil {
			t.Fatal(err)
		}
		made, err := s.Create(t.Context(), "o", persona.Persona{Name: "Eva"}, persona.Version{Orchestration: "Talk."})
		if err != nil {
			t.Fatal(err)
		}
		changes := []persona.Change{
			{Role: callwright.Given("Host")}, {Orchestration: callwright.Given("Sing.")}, {Personality: callwright.Given("Calm.")},
			{Call: persona.CallChange{Record: callwright.Given(true)}},
		}
		errs := make([]error, len(changes))
		var writers sync.WaitGroup
		for i, c := range changes {
			writers.Go(func() { _, errs[i] = s.Update(t.Context(), "o", made.Persona.ID, c) })
		}
		writers.Wait()
		got, err := s.Get(t.Context(), "o", made.Persona.ID)
		if err != nil || fmt.Sprint(errs) != "[<nil> <nil> <nil> <nil>]" {
			t.Fatal(errs, err)
		}
		versions, err := s.Versions(t.Context(), "o", made.Persona.ID, callwright.Keyset{}, 0)
		if d := got.Draft; err != nil || len(versions.Items) != 2 || got.Persona.Role != "Host" || d.Orchestration != "Sing." ||
			d.Personality != "Calm." || !d.Call.Record || d.Number != 2 || got.Persona.Revision != 5 {
			t.Errorf("got %+v with the draft %+v of %d versions, %v", got.Persona, d, len(versions.Items), err)
		}
	})
}
