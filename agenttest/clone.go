package agenttest

import (
	"context"
	"errors"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/templates"
)

// Clone configures the scenario made of a template.
type Clone struct {
	Pathway, Persona string         // the tested pathway or persona: one of the two
	Change           scenario.Patch // of the template's scenario
}

// CloneTemplate creates a scenario from a template. Unless the change names it, it has the template's name, followed by a number if
// the pathway or the persona already has a scenario with this name. CodeNotFound: the template is absent, or, with the field
// pathway_id or persona_id, the tested object. Other errors are as of CreateScenario.
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

// maxClones is the maximum number of numbered scenarios of one name. The client must name further ones.
const maxClones = 20
