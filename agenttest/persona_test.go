package agenttest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

// personas contains the persona "desk" with the versions 1 and 2, where version 2 is in production, and the persona "new" without versions.
type personas struct{}

func (personas) Load(_ context.Context, of callwright.OrgID, id string) (persona.Persona, persona.Version, error) {
	switch {
	case of == org && id == "desk":
		return persona.Persona{ID: id}, persona.Version{Number: 2}, nil
	case of == org && id == "new":
		return persona.Persona{}, persona.Version{}, callwright.InField("persona_id", callwright.Errorf(callwright.CodeInvalidState, "no version"))
	default:
		return persona.Persona{}, persona.Version{}, callwright.InField("persona_id", callwright.NotFound("persona"))
	}
}

func (personas) LoadPinned(_ context.Context, of callwright.OrgID, id string, number int) (persona.Version, error) {
	if of != org || id != "desk" || number > 2 {
		return persona.Version{}, callwright.NotFound("version")
	}
	return persona.Version{Number: number, Orchestration: "Book tables."}, nil
}

// ofPersona returns a change of a scenario: it replaces the tested pathway by a persona.
func ofPersona(id string) func(*scenario.Scenario) {
	return func(sc *scenario.Scenario) { sc.Pathway, sc.Persona = "", id }
}

// TestRunsOfPersonas checks runs of a persona: alone, in a batch with a scenario of a pathway, and in a set.
func TestRunsOfPersonas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.cfg.Personas = personas{}
		l.Service = l.another()
		l.run(l.Service)
		desk, shop := l.scenario(ofPersona("desk")), l.scenario()
		alone := l.start(desk, run.Request{})
		old := l.start(desk, run.Request{Version: new(1)})
		mixed, runs, err := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: []string{desk.ID, shop.ID}})
		if err != nil {
			t.Fatal(err)
		}
		set, err := l.StartSet(t.Context(), org, group.SetRequest{Scenarios: []string{desk.ID}, Simulations: 2, Persona: "desk"})
		if err != nil {
			t.Fatal(err)
		}
		settled()
		for _, want := range []struct {
			id      string
			persona string
			version int
		}{{alone.ID, "desk", 2}, {old.ID, "desk", 1}, {runs[0].ID, "desk", 2}, {runs[1].ID, "", 1}} {
			if got := l.get(want.id); got.State != run.Passed || got.Persona != want.persona || got.Version != want.version {
				t.Errorf("the run of version %d of %q is %+v", want.version, want.persona, got)
			}
		}
		if mixed.Persona != "" || mixed.Pathway != "" || mixed.Version != 0 || set.Persona != "desk" || set.Version != 2 || set.Pathway != "" {
			t.Errorf("the batch is %+v, the set %+v", mixed, set)
		}
		for _, spec := range l.agent.Started() {
			if (spec.Persona == "") == (spec.Pathway == "") {
				t.Errorf("a session began with %+v", spec)
			}
		}
		if n := len(l.agent.Started()); n != 6 {
			t.Errorf("%d sessions", n)
		}
	})
}

func TestScenariosOfPersonasAreChecked(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	sc := l.scenario()
	change := func(f func(*scenario.Scenario)) scenario.Scenario {
		changed := sc
		changed.Name, changed.Pathway, changed.Persona = "another", "", "desk"
		f(&changed)
		return changed
	}
	without := l.Service
	l.cfg.Personas = personas{}
	l.Service = l.another()
	for name, test := range map[string]struct {
		service *agenttest.Service
		org     callwright.OrgID
		change  func(*scenario.Scenario)
		field   string // field of the expected error; empty means no error
	}{
		"a persona":                {l.Service, org, func(*scenario.Scenario) {}, ""},
		"one without a version":    {l.Service, org, ofPersona("new"), ""},
		"an absent one":            {l.Service, org, ofPersona("nobody"), "persona_id"},
		"another's":                {l.Service, "other", func(*scenario.Scenario) {}, "persona_id"},
		"beside a pathway":         {l.Service, org, func(sc *scenario.Scenario) { sc.Pathway = "p1" }, "persona_id"},
		"a start node":             {l.Service, org, func(sc *scenario.Scenario) { sc.StartNode = "start" }, "start_node_id"},
		"required for a promotion": {l.Service, org, required, "is_required_for_promotion"},
		"where there are none":     {without, org, func(*scenario.Scenario) {}, "persona_id"},
	} {
		_, err := test.service.CreateScenario(t.Context(), test.org, change(test.change))
		if got := fieldOf(err); got != test.field || (err == nil) != (test.field == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// fieldOf returns the field of an error, or the field of the first of several errors. It returns "" for errors without a field.
func fieldOf(err error) string {
	if all, ok := errors.AsType[callwright.FieldErrors](err); ok && len(all) > 0 {
		err = all[0]
	}
	if e, ok := errors.AsType[*callwright.Error](err); ok {
		return e.Field
	}
	return ""
}

func TestRunsOfPersonasAreRefused(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.cfg.Personas = personas{}
	l.Service = l.another()
	desk, fresh := l.scenario(ofPersona("desk")), l.scenario(ofPersona("new"))
	_, err := l.StartSet(t.Context(), org, group.SetRequest{Scenarios: []string{desk.ID}, Simulations: 1, Persona: "new"})
	if fieldOf(err) != "persona_id" {
		t.Errorf("a set of another persona: %v", err)
	}
	for name, test := range map[string]struct {
		scenario string
		version  *int
		code     callwright.Code
		field    string
	}{
		"an absent version":     {desk.ID, new(3), callwright.CodeNotFound, "version_number"},
		"the draft":             {desk.ID, new(0), callwright.CodeBadRequest, "version_number"},
		"nothing in production": {fresh.ID, nil, callwright.CodeInvalidState, "persona_id"},
	} {
		_, err := l.StartRun(t.Context(), org, test.scenario, run.Request{Version: test.version})
		if callwright.CodeOf(err) != test.code || fieldOf(err) != test.field {
			t.Errorf("%s: %v", name, err)
		}
	}
}
