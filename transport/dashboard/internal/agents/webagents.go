package agents

import (
	"context"
	"net/url"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/transport/dashboard/internal/agentform"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// webAgents lists the web agents, oldest first.
func (p pages) webAgents(ctx context.Context, r *page.Request) (page.Answer, error) {
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	found, err := p.cfg.Agents.ListAgents(ctx, r.Org(), after, pageSize)
	if err != nil {
		return nil, err
	}
	data := list{Next: r.Next(found.Next), Personas: p.cfg.Personas != nil}
	for _, w := range found.Items {
		data.Rows = append(data.Rows, row{Path: page.Path("/agents/web", w.ID), Name: w.ID, Leader: leader(w.Agent), Changed: w.UpdatedAt})
	}
	return &page.View{Page: "webagents", Title: "Web agents", Data: data}, nil
}

// webAgentForm returns the form of a new web agent.
func webAgentForm() form {
	return form{Title: "New web agent", Path: "/agents", List: "/agents", ListTitle: "All web agents", Save: "Create the web agent"}
}

func (p pages) newWebAgent(ctx context.Context, r *page.Request) (page.Answer, error) {
	values := map[string]string{}
	agentform.WebAgent.Fill(values, agents.Agent{})
	return p.show(ctx, r, webAgentForm(), agentform.WebAgent, values)
}

// createWebAgent creates a web agent, or shows the form again with its faults.
func (p pages) createWebAgent(ctx context.Context, r *page.Request) (page.Answer, error) {
	values := map[string]string{}
	agentform.WebAgent.Read(r, values)
	a, err := agentform.WebAgent.Apply(values, agents.Agent{})
	if err == nil {
		var w agents.WebAgent
		if w, err = p.cfg.Agents.CreateAgent(ctx, r.Org(), agents.WebAgent{Agent: a}); err == nil {
			return page.SeeOther{To: page.Path("/agents/web", w.ID), Notice: "The web agent is created."}, nil
		}
	}
	f := webAgentForm()
	var ok bool
	if f.Faults, ok = agentform.Faults(err, renamed, agentform.WebAgent.Fields()...); !ok {
		return nil, err
	}
	return p.show(ctx, r, f, agentform.WebAgent, values)
}

// webAgent shows a web agent.
func (p pages) webAgent(ctx context.Context, r *page.Request) (page.Answer, error) {
	w, err := p.cfg.Agents.Agent(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	agentform.WebAgent.Fill(values, w.Agent)
	return p.showWebAgent(ctx, r, w, values, nil)
}

func (p pages) showWebAgent(
	ctx context.Context, r *page.Request, w agents.WebAgent, values map[string]string, faults page.Faults,
) (page.Answer, error) {
	f := webAgentForm()
	f.Title, f.Path, f.Save, f.Version, f.Faults = "Web agent "+w.ID, page.Path("/agents/web", w.ID), "Save", w.Version, faults
	f.Warnings, f.Notes = p.cfg.Agents.Warnings(ctx, w.Org, w.Agent), p.notes(w.Agent)
	f.Actions = []action{{page.Path(f.Path, "delete"), "Delete", "Delete this web agent? The records of its calls remain.", true}}
	if p.cfg.Calls {
		f.Call = "/calls/new?agent_id=" + url.QueryEscape(w.ID)
	}
	return p.show(ctx, r, f, agentform.WebAgent, values)
}

// notes returns sentences about voice settings without an effect, and about settings that the form does not show.
func (p pages) notes(a agents.Agent) (notes []string) {
	for _, ignored := range p.cfg.Agents.IgnoredVoiceSettings(a) {
		notes = append(notes, ignored.Field+" has no effect: "+ignored.Message)
	}
	if len(a.Tools) > 0 || len(a.DynamicData) > 0 || a.Webhook != "" {
		notes = append(notes, "its tools, dynamic data and webhook are set by the API, and stay as they are")
	}
	return notes
}

// updateWebAgent changes a web agent, or shows the form again with its faults.
func (p pages) updateWebAgent(ctx context.Context, r *page.Request) (page.Answer, error) {
	w, err := p.cfg.Agents.Agent(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	values, fields := map[string]string{}, agentform.WebAgent.Fields()
	agentform.WebAgent.Read(r, values)
	patch, err := agentform.WebAgent.Patch(values, w.Agent)
	var faults page.Faults
	var report agents.Report
	if err == nil {
		patch.Version, patch.Whole = version(r), true
		_, report, err = p.cfg.Agents.UpdateAgent(ctx, r.Org(), w.ID, agents.WebAgentPatch{Patch: patch})
	}
	if err == nil {
		if faults, err = faultsOf(report, fields); err != nil {
			return nil, err
		}
		if len(faults) == 0 {
			return page.SeeOther{To: page.Path("/agents/web", w.ID), Notice: "The web agent is saved."}, nil
		}
	}
	if err != nil {
		var ok bool
		if faults, ok = agentform.Faults(err, renamed, fields...); !ok {
			return nil, err
		}
	}
	return p.showWebAgent(ctx, r, w, values, faults)
}

func (p pages) deleteWebAgent(ctx context.Context, r *page.Request) (page.Answer, error) {
	if err := p.cfg.Agents.DeleteAgent(ctx, r.Org(), r.PathValue("id")); err != nil {
		return nil, err
	}
	return page.SeeOther{To: "/agents", Notice: "The web agent is deleted."}, nil
}
