package agents_test

import (
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
)

const brainURL = "https://brain.example/turns"

func withBrains(c *agents.Config) { c.Brains = onlyHTTPS{} }

// TestCallingByBrain checks that a brain leads a call alone, and which brains are refused.
func TestCallingByBrain(t *testing.T) {
	t.Parallel()
	s := newService(t, withBrains, withPersonas)
	led := create(t, s, agents.Agent{Task: "Help.", Voice: "rms"}).ID
	byBrain := create(t, s, agents.Agent{Brain: brainURL}).ID
	url := callwright.Given(brainURL)
	for name, test := range map[string]struct {
		choice agents.Choice
		brain  string
		field  string // of the error; empty means none
	}{
		"of the call":               {agents.Choice{Agent: agents.Agent{Brain: brainURL}}, brainURL, ""},
		"an override":               {agents.Choice{Overrides: agents.Patch{Brain: url}}, brainURL, ""},
		"in place of a task":        {agents.Choice{ID: led, Overrides: agents.Patch{Brain: url}}, brainURL, ""},
		"a task in its place":       {agents.Choice{ID: byBrain, Overrides: agents.Patch{Task: callwright.Given("Help.")}}, "", ""},
		"a pathway in its place":    {agents.Choice{ID: byBrain, Overrides: agents.Patch{Pathway: callwright.Given("p1")}}, "", ""},
		"a persona in its place":    {agents.Choice{ID: byBrain, Overrides: agents.Patch{PersonaID: callwright.Given("desk")}}, "", ""},
		"beside a task":             {agents.Choice{Agent: agents.Agent{Brain: brainURL, Task: "Help."}}, "", "brain_url"},
		"beside a persona":          {agents.Choice{Agent: agents.Agent{Brain: brainURL, PersonaID: "desk"}}, "", "brain_url"},
		"beside a pathway, changed": {agents.Choice{Overrides: agents.Patch{Brain: url, Pathway: callwright.Given("p1")}}, "", "brain_url"},
		"cleared":                   {agents.Choice{ID: byBrain, Overrides: agents.Patch{Brain: callwright.Cleared[string]()}}, "", "task"},
		"a forbidden URL":           {agents.Choice{Agent: agents.Agent{Brain: "http://brain.example/"}}, "", "brain_url"},
		"a fragment":                {agents.Choice{Agent: agents.Agent{Brain: brainURL + "#key"}}, "", "brain_url"},
		"a changed fragment":        {agents.Choice{ID: byBrain, Overrides: agents.Patch{Brain: callwright.Given(brainURL + "?a=1#key")}}, "", "brain_url"},
		"a long URL":                {agents.Choice{Agent: agents.Agent{Brain: brainURL + strings.Repeat("x", agents.MaxBrain)}}, "", "brain_url"},
	} {
		a, err := s.Calling(t.Context(), "a", test.choice)
		if test.field != "" {
			wantField(t, name, err, test.field)
			continue
		}
		led := a.Task != "" || a.Pathway.ID != "" || a.PersonaID != ""
		if err != nil || a.Brain != test.brain || led != (test.brain == "") {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	without := newService(t)
	if _, err := without.Calling(t.Context(), "a", agents.Choice{Agent: agents.Agent{Brain: brainURL}}); callwright.CodeOf(err) != callwright.CodeUnavailable {
		t.Errorf("without the port: %v", err)
	}
}

// wantField checks that an error is CodeBadRequest about a field.
func wantField(t *testing.T, what string, err error, field string) {
	t.Helper()
	if callwright.CodeOf(err) != callwright.CodeBadRequest || !strings.HasPrefix(err.Error(), field+": ") {
		t.Errorf("%s: %v, want an error about %s", what, err, field)
	}
}

// TestUpdateBrain checks that setting a brain or another leader replaces the former leader, and that two together are refused.
func TestUpdateBrain(t *testing.T) {
	t.Parallel()
	s := registered(t, withBrains, withPersonas)
	url := callwright.Given(brainURL)
	for _, step := range []struct {
		name    string
		patch   agents.Patch
		want    agents.Agent // leader afterwards
		refused agents.Setting
	}{
		{"a task", agents.Patch{Task: callwright.Given("Help.")}, agents.Agent{Task: "Help."}, ""},
		{"a brain", agents.Patch{Brain: url}, agents.Agent{Brain: brainURL}, ""},
		{"a persona", agents.Patch{PersonaID: callwright.Given("desk")}, agents.Agent{PersonaID: "desk"}, ""},
		{"a brain, and no persona", agents.Patch{Brain: url, PersonaID: callwright.Cleared[string](), Task: callwright.Given("")}, agents.Agent{Brain: brainURL}, ""},
		{"a pathway", agents.Patch{Pathway: callwright.Given("p1")}, agents.Agent{Pathway: agents.PathwayRef{ID: "p1"}}, ""},
		{"two", agents.Patch{Brain: url, Task: callwright.Given("Help.")}, agents.Agent{Task: "Help."}, agents.SettingBrain},
		{"a version of no pathway", agents.Patch{Brain: url, StartNode: callwright.Given("begin")}, agents.Agent{Brain: brainURL}, agents.SettingStartNode},
		{"nothing", agents.Patch{Brain: callwright.Cleared[string]()}, agents.Agent{}, ""},
		{"a bad brain", agents.Patch{Brain: callwright.Given("ftp://brain.example/")}, agents.Agent{}, agents.SettingBrain},
	} {
		got, report := update(t, s, step.patch)
		if got.Task != step.want.Task || got.Brain != step.want.Brain || got.PersonaID != step.want.PersonaID || got.Pathway.ID != step.want.Pathway.ID {
			t.Errorf("%s: %+v", step.name, got)
		}
		for setting, err := range report {
			if (err != nil) != (setting == step.refused) {
				t.Errorf("%s: %s: %v", step.name, setting, err)
			}
		}
	}
}
