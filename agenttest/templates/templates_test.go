package templates_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/templates"
)

// TestTemplates checks that each template describes a scenario that is valid once a tested agent is set, that ids are unique, and that each
// category has a template.
func TestTemplates(t *testing.T) {
	t.Parallel()
	var categories []scenario.Category
	ids := map[string]bool{}
	for _, tmpl := range templates.All() {
		if ids[tmpl.ID] {
			t.Errorf("the id %s is there twice", tmpl.ID)
		}
		ids[tmpl.ID] = true
		categories = append(categories, tmpl.Category)
		s := tmpl.Scenario()
		s.Pathway, s.Required = "p1", true
		n := 0
		s.SetDefaults(func() string { n++; return fmt.Sprint("a", n) })
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", tmpl.ID, err)
		}
		if tone := slices.ContainsFunc(s.Assertions, func(a assert.Assertion) bool { return a.Type == assert.ServiceTone }); tone && !s.ScoreTone {
			t.Errorf("%s scores no tone", tmpl.ID)
		}
		for _, a := range tmpl.Assertions {
			if a.ID == "" || a.Name == "" {
				t.Errorf("%s: an assertion has no id or no name: %+v", tmpl.ID, a)
			}
		}
	}
	for _, c := range scenario.Categories() {
		if !slices.Contains(categories, c) {
			t.Errorf("the category %s has no template", c)
		}
	}
}

// TestClones checks that changing a returned template does not affect other copies.
func TestClones(t *testing.T) {
	t.Parallel()
	one, ok := templates.Find("tmpl_happy_path")
	if !ok {
		t.Fatal("there is no happy path")
	}
	one.Assertions[0].Name = "changed"
	if again, _ := templates.Find("tmpl_happy_path"); again.Assertions[0].Name == "changed" {
		t.Error("the template has changed")
	}
	if _, ok := templates.Find("tmpl_none"); ok {
		t.Error("a template that is not there was found")
	}
}
