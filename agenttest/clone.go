package agenttest

import (
	"context"
	"errors"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/templates"
)

// Clone configures the scenario that CloneTemplate creates.
type Clone struct {
	Pathway, Persona string         // the tested pathway or persona: set exactly one of them
	Change           scenario.Patch // applied to the template's scenario
}

// CloneTemplate creates a scenario from a template. Unless the change sets a name, the scenario is named after the template, with a number
// appended if the pathway or the persona already has a scenario with this name. CloneTemplate returns CodeNotFound if the template is
// absent, and CodeNotFound with the field pathway_id or persona_id if the tested object is absent. Otherwise it returns the errors of
// CreateScenario.
func (s *Service) CloneTemplate(ctx context.Context, org callwright.OrgID, id string, c Clone) (scenario.Scenario, error) {
	t, ok := templates.Find(id)
	if !ok {
		return scenario.Scenario{}, callwright.NotFound("template")
	}
	sc := c.Change.Apply(t.Scenario())
	sc.Pathway, sc.Persona = c.Pathway, c.Persona
	name := sc.Name
	for n := 2; ; n++ {
		made, err := s.CreateScenario(ctx, org, sc)
		e, coded := errors.AsType[*callwright.Error](err)
		if taken := coded && e.Code == ErrNameTaken.Code && e.Field == ErrNameTaken.Field; !taken || c.Change.Name.Set || n > maxClones {
			return made, err
		}
		sc.Name = fmt.Sprintf("%s (%d)", name, n)
	}
}

// maxClones is the highest number that CloneTemplate appends to a name. Beyond it, the client must choose a name.
const maxClones = 20
