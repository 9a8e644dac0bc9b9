package agenttest_test

import (
	"errors"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/scenario"
)

// TestNameIsTaken: a name that another scenario has is refused at once, and changes nothing.
func TestNameIsTaken(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	one, two := l.scenario(), l.scenario()
	got, err := l.UpdateScenario(t.Context(), org, two.ID, scenario.Patch{Name: callwright.Given(one.Name)})
	if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != callwright.CodeConflict || e.Field != "name" || got.ID != "" {
		t.Errorf("got %+v, %v", got, err)
	}
	if kept, err := l.Scenario(t.Context(), org, two.ID); err != nil || kept.Name != two.Name || kept.Revision != 1 {
		t.Errorf("kept %+v, %v", kept, err)
	}
}

// TestScenarioOfRevision: a change of another revision than the stored one is refused, and changes nothing.
func TestScenarioOfRevision(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	sc := l.scenario()
	rename := func(name string) error {
		_, err := l.UpdateScenario(t.Context(), org, sc.ID, scenario.Patch{Name: callwright.Given(name), Revision: &sc.Revision})
		return err
	}
	if err := rename("First"); err != nil {
		t.Fatal(err)
	}
	if err := rename("Second"); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("an old revision: %v", err)
	}
	if kept, err := l.Scenario(t.Context(), org, sc.ID); err != nil || kept.Name != "First" || kept.Revision != 2 {
		t.Errorf("kept %+v, %v", kept, err)
	}
}
