package agents

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/transport/dashboard/internal/agentform"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// personaFields contains the fields of a persona beside the settings of its calls.
var personaFields = []agentform.Field{
	{Name: "name", Label: "Name"},
	{Name: "role", Label: "Role"},
	{Name: "description", Label: "Description", Long: true},
	{Name: "tags", Label: "Tags", Hint: "Separated by commas."},
	{Name: "image_url", Label: "Picture", Hint: "An http or https address, which the server never loads."},
	{Name: "orchestration_prompt", Label: "What it is there for, and how it chooses what to do", Long: true},
	{Name: "personality_prompt", Label: "Who it is, and how it talks", Long: true},
}

// personaNames returns the names of all fields of a persona.
func personaNames() []string {
	names := agentform.Persona.Fields()
	for _, f := range personaFields {
		names = append(names, f.Name)
	}
	return names
}

// personas lists the personas, newest first.
func (p pages) personas(ctx context.Context, r *page.Request) (page.Answer, error) {
	number, err := strconv.Atoi(cmp.Or(r.Query("page"), "1"))
	if err != nil {
		return nil, callwright.Invalid("page", "must be a number")
	}
	found, err := p.cfg.Personas.List(ctx, r.Org(), number, persona.DefaultPage)
	if err != nil {
		return nil, err
	}
	data := list{Personas: true}
	if len(found) == persona.DefaultPage {
		data.Next = r.With("page", strconv.Itoa(number+1))
	}
	for _, one := range found {
		note := "draft only"
		if one.Production != nil {
			note = fmt.Sprintf("version %d in production", one.Production.Number)
		}
		data.Rows = append(data.Rows, row{
			Path: page.Path("/agents/personas", one.Persona.ID), Name: one.Persona.Name, Leader: one.Persona.Role, Note: note, Changed: one.Persona.UpdatedAt,
		})
	}
	return &page.View{Page: "personas", Title: "Personas", Data: data}, nil
}

// personaForm returns the form of a new persona.
func personaForm() form {
	return form{
		Title: "New persona", Path: "/agents/personas", List: "/agents/personas", ListTitle: "All personas", Save: "Create the persona",
		Notes: []string{"a persona whose purpose is given is in production at once; otherwise it is a draft"},
	}
}

func (p pages) newPersona(ctx context.Context, r *page.Request) (page.Answer, error) {
	values := map[string]string{}
	agentform.Persona.Fill(values, agents.Agent{})
	return p.show(ctx, r, personaForm(), agentform.Persona, values, personaFields...)
}

// readPersona returns the values of a persona's form.
func readPersona(r *page.Request) map[string]string {
	values := map[string]string{}
	for _, f := range personaFields {
		values[f.Name] = strings.ReplaceAll(r.Field(f.Name), "\r\n", "\n")
	}
	agentform.Persona.Read(r, values)
	return values
}

// tagsOf returns the tags in a list with commas.
func tagsOf(list string) (tags []string) {
	for tag := range strings.SplitSeq(list, ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

// createPersona creates a persona, or shows the form again with its faults.
func (p pages) createPersona(ctx context.Context, r *page.Request) (page.Answer, error) {
	values := readPersona(r)
	patch, err := agentform.Persona.Patch(values, agents.Agent{})
	if err == nil {
		var settings persona.CallConfig
		agentform.OfPersona(patch).Apply(&settings)
		var made persona.Record
		made, err = p.cfg.Personas.Create(ctx, r.Org(), persona.Persona{
			Name: values["name"], Role: values["role"], Description: values["description"], Tags: tagsOf(values["tags"]), ImageURL: values["image_url"],
		}, persona.Version{Orchestration: values["orchestration_prompt"], Personality: values["personality_prompt"], Call: settings})
		if err == nil {
			return page.SeeOther{To: page.Path("/agents/personas", made.Persona.ID), Notice: "The persona is created."}, nil
		}
	}
	f := personaForm()
	var ok bool
	if f.Faults, ok = agentform.Faults(err, renamed, personaNames()...); !ok {
		return nil, err
	}
	return p.show(ctx, r, f, agentform.Persona, values, personaFields...)
}

// latest returns the version of a persona that a change is based on.
func latest(one persona.Record) persona.Version {
	return *cmp.Or(one.Draft, one.Production, new(persona.Version))
}

// valuesOf returns the values of a persona's form.
func valuesOf(one persona.Record) map[string]string {
	v := latest(one)
	values := map[string]string{
		"name": one.Persona.Name, "role": one.Persona.Role, "description": one.Persona.Description, "tags": strings.Join(one.Persona.Tags, ", "),
		"image_url": one.Persona.ImageURL, "orchestration_prompt": v.Orchestration, "personality_prompt": v.Personality,
	}
	agentform.Persona.Fill(values, agentform.AgentOf(v.Call))
	return values
}

// persona shows a persona.
func (p pages) persona(ctx context.Context, r *page.Request) (page.Answer, error) {
	one, err := p.cfg.Personas.Get(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return p.showPersona(ctx, r, one, valuesOf(one), nil)
}

func (p pages) showPersona(
	ctx context.Context, r *page.Request, one persona.Record, values map[string]string, faults page.Faults,
) (page.Answer, error) {
	f, v := personaForm(), latest(one)
	f.Title, f.Path, f.Save, f.Version, f.Faults = one.Persona.Name, page.Path("/agents/personas", one.Persona.ID), "Save", one.Persona.Revision, faults
	a := agents.Agent{Task: v.Orchestration, VoiceSettings: v.Call.VoiceSettings, Tools: v.Tools}
	f.Warnings, f.Notes = p.cfg.Agents.Warnings(ctx, r.Org(), a), append([]string{personaState(one)}, p.notes(a)...)
	if len(v.Conditions) > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("its conditions, %d, are set by the API, and stay as they are", len(v.Conditions)))
	}
	if one.Draft != nil {
		f.Actions = append(f.Actions, action{page.Path(f.Path, "promote"), "Put the draft into production", "", false})
	}
	if one.Draft != nil && one.Production != nil {
		f.Actions = append(f.Actions, action{page.Path(f.Path, "discard"), "Discard the draft", "Discard the changes since the version in production?", true})
	}
	f.Actions = append(f.Actions, action{page.Path(f.Path, "delete"), "Delete", "Delete this persona?", true})
	if p.cfg.Calls && one.Production != nil {
		f.Call = "/calls/new?persona_id=" + url.QueryEscape(one.Persona.ID)
	}
	return p.show(ctx, r, f, agentform.Persona, values, personaFields...)
}

// personaState describes the versions of a persona.
func personaState(one persona.Record) string {
	switch {
	case one.Draft == nil && one.Production != nil:
		return fmt.Sprintf("version %d is in production; a change makes a draft", one.Production.Number)
	case one.Production != nil:
		return fmt.Sprintf("version %d is in production; this page shows the draft, version %d", one.Production.Number, latest(one).Number)
	default:
		return "it is a draft: calls can use it once it is in production"
	}
}

// updatePersona changes a persona and its draft, or shows the form again with its faults.
func (p pages) updatePersona(ctx context.Context, r *page.Request) (page.Answer, error) {
	one, err := p.cfg.Personas.Get(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	values, stored := readPersona(r), valuesOf(one)
	patch, err := agentform.Persona.Patch(values, agentform.AgentOf(latest(one).Call))
	if err == nil {
		change := persona.Change{Call: agentform.OfPersona(patch), Revision: version(r)}
		for name, text := range map[string]*callwright.Optional[string]{
			"name": &change.Name, "role": &change.Role, "description": &change.Description, "image_url": &change.ImageURL,
			"orchestration_prompt": &change.Orchestration, "personality_prompt": &change.Personality,
		} {
			if values[name] != stored[name] {
				*text = callwright.Given(values[name])
			}
		}
		if values["tags"] != stored["tags"] {
			change.Tags = callwright.Given(tagsOf(values["tags"]))
		}
		if _, err = p.cfg.Personas.Update(ctx, r.Org(), one.Persona.ID, change); err == nil {
			return page.SeeOther{To: page.Path("/agents/personas", one.Persona.ID), Notice: "The persona is saved."}, nil
		}
	}
	faults, ok := agentform.Faults(err, renamed, personaNames()...)
	if !ok {
		return nil, err
	}
	return p.showPersona(ctx, r, one, values, faults)
}

// promotePersona puts the draft into production, or shows why it cannot.
func (p pages) promotePersona(ctx context.Context, r *page.Request) (page.Answer, error) {
	one, err := p.cfg.Personas.Promote(ctx, r.Org(), r.PathValue("id"))
	if err == nil {
		return page.SeeOther{To: page.Path("/agents/personas", one.Persona.ID), Notice: "The draft is in production."}, nil
	}
	faults, ok := agentform.Faults(err, renamed, personaNames()...)
	if !ok {
		return nil, err
	}
	if one, err = p.cfg.Personas.Get(ctx, r.Org(), r.PathValue("id")); err != nil {
		return nil, err
	}
	return p.showPersona(ctx, r, one, valuesOf(one), faults)
}

func (p pages) discardDraft(ctx context.Context, r *page.Request) (page.Answer, error) {
	one, err := p.cfg.Personas.Discard(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return page.SeeOther{To: page.Path("/agents/personas", one.Persona.ID), Notice: "The draft is discarded."}, nil
}

func (p pages) deletePersona(ctx context.Context, r *page.Request) (page.Answer, error) {
	if err := p.cfg.Personas.Delete(ctx, r.Org(), r.PathValue("id")); err != nil {
		return nil, err
	}
	return page.SeeOther{To: "/agents/personas", Notice: "The persona is deleted."}, nil
}
