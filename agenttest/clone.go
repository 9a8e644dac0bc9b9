package agenttest

import (
	"context"
	"errors"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/templates"
)

// Clone is what becomes of a template.
type Clone struct {
	Pathway, Persona string         // what the scenario tests: one of the two
	Change           scenario.Patch // of the template's scenario
}

// CloneTemplate makes a scenario of a template. It has the template's name, with a number behind it if the pathway or the persona
// has a scenario of that name already, unless the change names it. CodeNotFound: there is no such template, or, with the
// field pathway_id or persona_id, nothing such to test. The other errors are those of CreateScenario.
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

// maxClones is how many scenarios of one name are counted. The client names further ones.
const maxClones = 20
