package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agenttest/scenario"
)

// Versions finds the versions of pathways and personas that runs test.
type Versions struct {
	Pathways Pathways // required
	Personas Personas // if nil, personas cannot be tested
}

// Pathways loads the tested versions of pathways. pathway.Service implements it.
type Pathways interface {
	// Load returns a version's graph and its number, which is 0 for the draft. It returns CodeNotFound with the field pathway_id or
	// pathway_version if the pathway or the version is absent, and CodeInvalidState if the draft is empty.
	Load(ctx context.Context, org callwright.OrgID, id string, sel pathway.Selector) (*graph.Graph, int, error)
}

// Personas loads the tested versions of personas. persona.Service implements it.
type Personas interface {
	// Load returns a persona and its version in production. With the field persona_id, it returns CodeNotFound if the persona is absent,
	// and CodeInvalidState if no version is in production.
	Load(ctx context.Context, org callwright.OrgID, id string) (persona.Persona, persona.Version, error)
	// LoadPinned returns a version that is or was in production, or CodeNotFound if the version is absent.
	LoadPinned(ctx context.Context, org callwright.OrgID, id string, number int) (persona.Version, error)
}

// Version is the version of a pathway or a persona that a run tests.
type Version struct {
	Number int
	Hash   string // hash of a pathway's version; empty for a persona
}

// Find returns the version of a scenario's pathway or persona to test: the version with the given number or, if number is nil, the version
// in production. It refuses the draft, because the draft may change during a run.
func (v Versions) Find(ctx context.Context, sc scenario.Scenario, number *int) (Version, error) {
	if number != nil && *number < 1 {
		return Version{}, callwright.Invalid("version_number", "must be the number of a saved version: the draft is not tested")
	}
	if sc.Persona != "" {
		return v.findPersona(ctx, sc, number)
	}
	sel := pathway.Selector{Environment: pathway.Production}
	if number != nil {
		sel = pathway.Selector{Number: *number}
	}
	g, n, err := v.Pathways.Load(ctx, sc.Org, sc.Pathway, sel)
	if e, ok := errors.AsType[*callwright.Error](err); ok && e.Field == "pathway_version" {
		named := *e
		named.Field = "version_number"
		if number == nil {
			named.Message = "is required, because no version of the pathway is in production"
		}
		return Version{}, &named
	}
	if err != nil {
		return Version{}, err
	}
	return Version{n, g.Hash}, nil
}

// InProduction returns the number of a pathway's version in production, or 0 if there is none.
func (v Versions) InProduction(ctx context.Context, org callwright.OrgID, id string) (int, error) {
	_, n, err := v.Pathways.Load(ctx, org, id, pathway.Selector{Environment: pathway.Production})
	if errors.Is(err, callwright.ErrInvalidState) { // the version is no longer valid, and may be replaced
		return n, nil
	}
	return n, callwright.IgnoreNotFound(err)
}

// findPersona returns the version of a persona to test. During a run, the persona hands over to the pathways that are in production when
// the run starts.
func (v Versions) findPersona(ctx context.Context, sc scenario.Scenario, number *int) (Version, error) {
	if v.Personas == nil {
		return Version{}, errNoPersonas
	}
	if number == nil {
		_, persona, err := v.Personas.Load(ctx, sc.Org, sc.Persona)
		return Version{Number: persona.Number}, err
	}
	persona, err := v.Personas.LoadPinned(ctx, sc.Org, sc.Persona, *number)
	if errors.Is(err, callwright.ErrNotFound) {
		err = &callwright.Error{
			Code: callwright.CodeNotFound, Field: "version_number",
			Message: fmt.Sprintf("the persona has no version %d that is or was in production: promote a draft to test it", *number),
		}
	}
	return Version{Number: persona.Number}, err
}

// Known returns an error if the pathway or the persona of a scenario is absent. It accepts a pathway or persona without versions.
func (v Versions) Known(ctx context.Context, sc scenario.Scenario) error {
	if sc.Persona != "" {
		return v.KnownPersona(ctx, sc.Org, sc.Persona)
	}
	_, _, err := v.Pathways.Load(ctx, sc.Org, sc.Pathway, pathway.Selector{})
	if errors.Is(err, callwright.ErrInvalidState) { // the draft is empty
		return nil
	}
	return err
}

// KnownPersona returns an error if a persona is absent. It accepts a persona without a version in production.
func (v Versions) KnownPersona(ctx context.Context, org callwright.OrgID, id string) error {
	if v.Personas == nil {
		return errNoPersonas
	}
	_, _, err := v.Personas.Load(ctx, org, id)
	if errors.Is(err, callwright.ErrInvalidState) {
		return nil
	}
	return err
}

// errNoPersonas is the error for a scenario of a persona if personas cannot be tested.
var errNoPersonas error = callwright.Invalid("persona_id", "must be absent: this server tests only pathways")
