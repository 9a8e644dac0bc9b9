package agenttests

import (
	"context"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/agentform"
)

// choices maps the fields that name a pathway or a persona to their options. The template "object" shows a field without options as an
// input for an id.
type choices map[string][]agentform.Option

// chooseOne is the text of the empty option in a form that requires an object.
const chooseOne = "Choose one"

// choices returns the options of the given fields; it skips fields that name neither a pathway nor a persona. Each list begins with an option
// that has an empty value and the text none. A field has no options if there are too many objects, or if its value is not among them.
func (p pages) choices(ctx context.Context, org callwright.OrgID, values map[string]string, none string, fields ...string) (choices, error) {
	all := choices{}
	for _, name := range fields {
		options, err := p.objects(ctx, org, name)
		if err != nil {
			return nil, err
		}
		if options == nil {
			continue
		}
		options = slices.Concat([]agentform.Option{{Text: none}}, options)
		if slices.ContainsFunc(options, func(o agentform.Option) bool { return o.Value == values[name] }) {
			all[name] = options
		}
	}
	return all, nil
}

// objects returns the objects that a field can name, or nil if the field names no object or if there are too many.
func (p pages) objects(ctx context.Context, org callwright.OrgID, field string) ([]agentform.Option, error) {
	switch {
	case field == "pathway_id" && p.cfg.Pathways != nil:
		return agentform.PathwayOptions(ctx, org, p.cfg.Pathways)
	case field == "persona_id" && p.cfg.Personas != nil:
		return agentform.PersonaOptions(ctx, org, p.cfg.Personas)
	}
	return nil, nil
}

// nameOf returns the name of the object with an id among the options of a field, or an empty text if it is not among them.
func nameOf(offered choices, field, id string) string {
	for _, o := range offered[field] {
		if o.Value == id {
			return o.Text
		}
	}
	return ""
}
