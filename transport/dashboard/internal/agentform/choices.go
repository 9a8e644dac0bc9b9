package agentform

import (
	"context"
	"errors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
)

// Pathways lists pathways; pathway.Service implements it.
type Pathways interface {
	// List returns a page of an organization's pathways, the newest first.
	List(ctx context.Context, org callwright.OrgID, l pathway.Listing) (callwright.Page[pathway.Pathway], error)
}

// Personas lists personas; persona.Service implements it.
type Personas interface {
	// List returns a page of an organization's personas, the newest first. Pages are numbered from 1, and contain at most limit personas.
	// List returns CodeBadRequest if the personas of the page exceed persona.MaxRead bytes.
	List(ctx context.Context, org callwright.OrgID, page, limit int) ([]persona.Record, error)
}

// PathwayOptions returns an organization's pathways as options of a field, or nil if there are more than pathway.MaxPage.
func PathwayOptions(ctx context.Context, org callwright.OrgID, pathways Pathways) ([]Option, error) {
	found, err := pathways.List(ctx, org, pathway.Listing{Limit: pathway.MaxPage})
	if err != nil || !found.Next.IsZero() {
		return nil, err
	}
	all := []Option{}
	for _, one := range found.Items {
		all = append(all, Option{Value: one.ID, Text: callwright.Clip(one.Name, maxText)})
	}
	return all, nil
}

// maxText is the maximum length of an option's text, in bytes.
const maxText = 200

// maxPersonaPages is the maximum number of pages of personas that a form offers.
const maxPersonaPages = 10

// PersonaOptions returns an organization's personas as options of a field. It returns nil if there are at least maxPersonaPages full pages
// of persona.DefaultPage personas, or if the personas of a page exceed persona.MaxRead bytes.
func PersonaOptions(ctx context.Context, org callwright.OrgID, personas Personas) ([]Option, error) {
	all := []Option{}
	for number := range maxPersonaPages {
		found, err := personas.List(ctx, org, number+1, persona.DefaultPage)
		if errors.Is(err, callwright.ErrBadRequest) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			all = append(all, Option{Value: one.Persona.ID, Text: callwright.Clip(one.Persona.Name, maxText)})
		}
		if len(found) < persona.DefaultPage {
			return all, nil
		}
	}
	return nil, nil
}
