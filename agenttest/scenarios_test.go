package agenttest_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
)

// TestNameIsTaken checks that renaming a scenario to the name of another one fails without a retry, and changes nothing.
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

// TestScenarioOfRevision checks that an update with an outdated revision is refused and changes nothing.
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

// TestModelsOfAssertions checks that CUSTOM_LLM assertions may name only existing models.
func TestModelsOfAssertions(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.cfg.Model = llm.Selection{Default: l.model, Others: map[string]llm.Model{"strict": &agentstest.Model{Called: "large-2"}}}
	l.Service = l.another()
	asking := func(name string) scenario.Scenario {
		return scenario.Scenario{
			Pathway: "p1", Name: "Judged by " + name, Messages: []scenario.Message{{Role: llm.RoleCaller, Text: "Hi."}},
			Assertions: []assert.Assertion{{Type: assert.CustomLLM, Config: json.RawMessage(`{"system_prompt":"Rate.","model":"` + name + `"}`), Weight: 1}},
		}
	}
	for _, name := range []string{"base", "turbo", "strict", l.model.Name()} {
		if _, err := l.CreateScenario(t.Context(), org, asking(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := l.CreateScenario(t.Context(), org, asking("gpt-9"))
	if !errors.Is(err, callwright.ErrBadRequest) || fieldOf(err) != "assertions[0].config.model" || !strings.Contains(err.Error(), "strict") {
		t.Errorf("a model that is not there: %v (%s)", err, fieldOf(err))
	}
	kept := l.scenario()
	list := asking("gpt-9").Assertions
	if _, err := l.UpdateScenario(t.Context(), org, kept.ID, scenario.Patch{Assertions: callwright.Given(list)}); fieldOf(err) != "assertions[0].config.model" {
		t.Errorf("a change to such a model: %v", err)
	}
}
