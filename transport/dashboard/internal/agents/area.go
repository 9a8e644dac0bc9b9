// Package agents contains the dashboard's pages of web agents, personas, and the agents of inbound numbers.
package agents

import (
	"context"
	"embed"
	"io/fs"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/transport/dashboard/internal/agentform"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

//go:embed templates/*.html
var files embed.FS

// Config configures the pages. Agents is required.
type Config struct {
	Agents   *agents.Service
	Personas *persona.Service // if nil, there are no pages of personas
	Pathways *pathway.Service // offers pathways; if nil, the user types an id
	Speech   *speech.Service  // offers voices; if nil, the user types a name
	Calls    bool             // whether the dashboard has pages of calls, to which these pages then link
}

type pages struct{ cfg Config }

// New returns the area of the agents' pages. It panics if the embedded templates cannot be opened.
func New(c Config) page.Area {
	p := pages{c}
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // impossible: the folder is embedded
	}
	area := page.Area{
		Title: "Agents", Path: "/agents", Templates: templates,
		Routes: []page.Route{
			{Pattern: "GET /agents", Serve: p.webAgents},
			{Pattern: "GET /agents/new", Serve: p.newWebAgent},
			{Pattern: "POST /agents", Serve: p.createWebAgent},
			{Pattern: "GET /agents/web/{id}", Serve: p.webAgent},
			{Pattern: "POST /agents/web/{id}", Serve: p.updateWebAgent},
			{Pattern: "POST /agents/web/{id}/delete", Serve: p.deleteWebAgent},
			{Pattern: "GET /agents/numbers", Serve: p.numbers},
			{Pattern: "GET /agents/numbers/{number}", Serve: p.number},
			{Pattern: "POST /agents/numbers/{number}", Serve: p.updateNumber},
			{Pattern: "POST /agents/numbers/{number}/copy", Serve: p.copyAgent},
		},
	}
	if c.Personas != nil {
		area.Routes = append(area.Routes, []page.Route{
			{Pattern: "GET /agents/personas", Serve: p.personas},
			{Pattern: "GET /agents/personas/new", Serve: p.newPersona},
			{Pattern: "POST /agents/personas", Serve: p.createPersona},
			{Pattern: "GET /agents/personas/{id}", Serve: p.persona},
			{Pattern: "POST /agents/personas/{id}", Serve: p.updatePersona},
			{Pattern: "POST /agents/personas/{id}/promote", Serve: p.promotePersona},
			{Pattern: "POST /agents/personas/{id}/discard", Serve: p.discardDraft},
			{Pattern: "POST /agents/personas/{id}/delete", Serve: p.deletePersona},
		}...)
	}
	return agentform.In(area)
}

// pageSize is the maximum number of entries on a page of a list.
const pageSize = 50

// list contains the data of a page that lists objects.
type list struct {
	Rows     []row
	Next     string // query of the next page; empty on the last
	Personas bool   // whether there are pages of personas
}

// row describes an object in a list.
type row struct {
	Path, Name string
	Leader     string // what leads the object's conversations
	Note       string
	Changed    any // time of the last change
}

// choices returns the options of the fields that name other objects. A field without options is typed, also if there are too many objects.
func (p pages) choices(ctx context.Context, org callwright.OrgID) (choices map[string][]agentform.Option, err error) {
	choices = map[string][]agentform.Option{}
	for _, name := range p.cfg.Agents.Models() {
		choices["model"] = append(choices["model"], agentform.Option{Value: name, Text: name})
	}
	choices["fallback_model"] = choices["model"]
	if p.cfg.Pathways != nil {
		if choices["pathway_id"], err = agentform.PathwayOptions(ctx, org, p.cfg.Pathways); err != nil {
			return nil, err
		}
	}
	if p.cfg.Personas != nil {
		if choices["persona_id"], err = agentform.PersonaOptions(ctx, org, p.cfg.Personas); err != nil {
			return nil, err
		}
	}
	if p.cfg.Speech != nil {
		voices, err := p.cfg.Speech.Voices(ctx, org)
		if err != nil {
			return nil, err
		}
		choices["voice"] = []agentform.Option{}
		for _, v := range voices {
			choices["voice"] = append(choices["voice"], agentform.Option{Value: v.ID, Text: v.Name})
		}
	}
	return choices, nil
}
