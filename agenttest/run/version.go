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

// Versions finds the versions to test.
type Versions struct {
	Pathways Pathways // required
	Personas Personas // nil: personas cannot be tested
}

// Pathways loads the tested versions of pathways; pathway.Service implements it.
type Pathways interface {
	// Load returns a version's graph and its number, 0 for the draft; CodeNotFound, with the field pathway_id or pathway_version,
	// when it is absent. CodeInvalidState: the draft is empty.
	Load(ctx context.Context, org callwright.OrgID, id string, sel pathway.Selector) (*graph.Graph, int, error)
}

// Personas loads the tested versions of personas; persona.Service implements it.
type Personas interface {
	// Load returns a persona and its version in production. CodeNotFound with the field persona_id: the persona is absent.
	// CodeInvalidState with that field: no version is in production.
	Load(ctx context.Context, org callwright.OrgID, id string) (persona.Persona, persona.Version, error)
	// LoadPinned returns a version that is or was in production. CodeNotFound: it is absent.
	LoadPinned(ctx context.Context, org callwright.OrgID, id string, number int) (persona.Version, error)
}

// Version is a version to test.
type Version struct {
	Number int
	Hash   string // of a pathway's version
}

// Find finds the version to test: a number, or nil for the version in production. A draft is not tested, because it may change
// during a run.
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

// InProduction returns the number of a pathway's version in production; 0: none.
func (v Versions) InProduction(ctx context.Context, org callwright.OrgID, id string) (int, error) {
	_, n, err := v.Pathways.Load(ctx, org, id, pathway.Selector{Environment: pathway.Production})
	if errors.Is(err, callwright.ErrInvalidState) { // no longer valid, and may be replaced
		return n, nil
	}
	return n, callwright.IgnoreNotFound(err)
}

// findPersona finds the version of a persona to test. It hands over to the pathways in production at the begin of a run.
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

// Known rejects a scenario of an absent pathway or persona. A pathway or persona without versions may have scenarios.
func (v Versions) Known(ctx context.Context, sc scenario.Scenario) error {
	if sc.Persona != "" {
		return v.KnownPersona(ctx, sc.Org, sc.Persona)
	}
	_, _, err := v.Pathways.Load(ctx, sc.Org, sc.Pathway, pathway.Selector{})
	if errors.Is(err, callwright.ErrInvalidState) { // an empty draft
		return nil
	}
	return err
}

// KnownPersona rejects an absent persona. It accepts a persona without a version in production.
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

// errNoPersonas is the error of a persona's scenario on a server without personas.
var errNoPersonas error = callwright.Invalid("persona_id", "must be absent: this program tests pathways only")
