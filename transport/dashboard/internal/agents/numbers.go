package agents

import (
	"context"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/transport/dashboard/internal/agentform"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// numbers lists the inbound numbers in ascending order.
func (p pages) numbers(ctx context.Context, r *page.Request) (page.Answer, error) {
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	found, err := p.cfg.Agents.ListInbound(ctx, r.Org(), after, pageSize)
	if err != nil {
		return nil, err
	}
	data := list{Next: r.Next(found.Next), Personas: p.cfg.Personas != nil}
	for _, n := range found.Items {
		by := leader(n.Agent)
		if by == "" {
			by = "nothing: its calls are refused"
		}
		data.Rows = append(data.Rows, row{
			Path: page.Path("/agents/numbers", n.Number.String()), Name: n.Number.String(), Leader: by, Changed: n.UpdatedAt,
		})
	}
	return &page.View{Page: "numbers", Title: "Inbound numbers", Data: data}, nil
}

// inbound returns the number in the path of a request.
func (p pages) inbound(ctx context.Context, r *page.Request) (agents.InboundNumber, error) {
	number, err := p.cfg.Agents.Number(ctx, r.Org(), r.PathValue("number"))
	if err != nil {
		return agents.InboundNumber{}, err
	}
	return p.cfg.Agents.Inbound(ctx, r.Org(), number)
}

// number shows the agent that answers at a number.
func (p pages) number(ctx context.Context, r *page.Request) (page.Answer, error) {
	n, err := p.inbound(ctx, r)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	agentform.Number.Fill(values, n.Agent)
	return p.showNumber(ctx, r, n, values, nil)
}

func (p pages) showNumber(
	ctx context.Context, r *page.Request, n agents.InboundNumber, values map[string]string, faults page.Faults,
) (page.Answer, error) {
	web, err := p.webAgentOptions(ctx, r.Org())
	if err != nil {
		return nil, err
	}
	return p.show(ctx, r, form{
		WebAgents: web, Title: "Calls to " + n.Number.String(), Path: page.Path("/agents/numbers", n.Number.String()), List: "/agents/numbers",
		ListTitle: "All inbound numbers", Save: "Save", Version: n.Version, Warnings: p.cfg.Agents.NumberWarnings(ctx, n), Notes: p.notes(n.Agent), Faults: faults,
	}, agentform.Number, values)
}

// webAgentOptions returns the selectable web agents, each with its leader and the beginning of its id.
func (p pages) webAgentOptions(ctx context.Context, org callwright.OrgID) ([]agentform.Option, error) {
	found, err := p.cfg.Agents.ListAgents(ctx, org, callwright.Keyset{}, 0)
	if err != nil || len(found.Items) == 0 {
		return nil, err
	}
	names, err := p.choices(ctx, org)
	if err != nil {
		return nil, err
	}
	var options []agentform.Option
	for _, w := range found.Items {
		name := []string{leader(w.Agent)}
		for _, o := range slices.Concat(names["pathway_id"], names["persona_id"]) {
			if o.Value == w.Agent.Pathway.ID || o.Value == w.Agent.PersonaID {
				name = append(name, o.Text)
			}
		}
		options = append(options, agentform.Option{Value: w.ID, Text: strings.Join(name, " ") + " (" + w.ID + ")"})
	}
	return options, nil
}

// copyAgent copies the settings of a web agent to a number, or shows the form with the reason why it cannot.
func (p pages) copyAgent(ctx context.Context, r *page.Request) (page.Answer, error) {
	n, err := p.inbound(ctx, r)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	agentform.Number.Fill(values, n.Agent)
	faults := page.Faults{"agent_id": "is required"}
	if id := r.Field("agent_id"); id != "" {
		_, report, err := p.cfg.Agents.UpdateInbound(ctx, r.Org(), n.Number, agents.Patch{AgentID: id, Version: version(r), Whole: true})
		if err != nil {
			var ok bool
			if faults, ok = agentform.Faults(err, renamed, "agent_id"); !ok {
				return nil, err
			}
		} else if faults, err = faultsOf(report, []string{"agent_id"}); err != nil {
			return nil, err
		}
	}
	if len(faults) > 0 {
		return p.showNumber(ctx, r, n, values, faults)
	}
	return page.SeeOther{To: page.Path("/agents/numbers", n.Number.String()), Notice: "The settings of the web agent are copied."}, nil
}

// updateNumber changes the agent of a number, or shows the form again with its faults.
func (p pages) updateNumber(ctx context.Context, r *page.Request) (page.Answer, error) {
	n, err := p.inbound(ctx, r)
	if err != nil {
		return nil, err
	}
	values, fields := map[string]string{}, agentform.Number.Fields()
	agentform.Number.Read(r, values)
	patch, err := agentform.Number.Patch(values, n.Agent)
	var faults page.Faults
	var report agents.Report
	if err == nil {
		patch.Version, patch.Whole = version(r), true
		_, report, err = p.cfg.Agents.UpdateInbound(ctx, r.Org(), n.Number, patch)
	}
	if err == nil {
		if faults, err = faultsOf(report, fields); err != nil {
			return nil, err
		}
		if len(faults) == 0 {
			return page.SeeOther{To: page.Path("/agents/numbers", n.Number.String()), Notice: "The settings are saved."}, nil
		}
	}
	if err != nil {
		var ok bool
		if faults, ok = agentform.Faults(err, renamed, fields...); !ok {
			return nil, err
		}
	}
	return p.showNumber(ctx, r, n, values, faults)
}
