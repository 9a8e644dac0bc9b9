package agenttests

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm/price"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// newGroup contains the data of the form that starts a batch or a simulation set.
type newGroup struct {
	form

	Path, Name string // path of the list of such groups, and the name of such a group
	Set        bool
	Filter     filter
	Query      string // query of the page, which selects the listed scenarios
	Scenarios  []agenttest.Listed
	Chosen     []string // ids of the selected scenarios
	More       bool     // there are more scenarios than are listed
}

// The fields of the forms that start groups.
var (
	batchFields = []string{"scenario_ids", "version_number", "budget.tokens", "budget.cost", "concurrency", "publish_on_pass"}
	setFields   = []string{
		"scenario_ids", "simulations_per_scenario", "version_number", "budget.tokens", "budget.cost", "concurrency", "attribute_flakes",
	}
)

// newBatch shows the form that starts a batch.
func (p pages) newBatch(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.showNewGroup(ctx, r, newGroup{Path: batchesPath, Name: "batch"})
}

// newSet shows the form that starts a simulation set.
func (p pages) newSet(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.showNewGroup(ctx, r, newGroup{Path: setsPath, Name: "simulation set", Set: true})
}

// showNewGroup shows the form with up to group.MaxScenarios enabled scenarios that match the filter.
func (p pages) showNewGroup(ctx context.Context, r *page.Request, data newGroup) (page.Answer, error) {
	f, err := p.readFilter(ctx, r, "pathway_id", "persona_id", "category")
	if err != nil {
		return nil, err
	}
	data.Filter, data.Query = f, r.With()
	view := f.view("newgroup", "Start a "+data.Name, &data)
	if len(data.Faults) > 0 {
		view.Status = http.StatusUnprocessableEntity
	}
	if data.Values == nil {
		data.Values = map[string]string{}
		if id := r.Query("scenario_id"); id != "" {
			data.Chosen = []string{id}
		}
	}
	find := agenttest.ScenarioFilter{
		Pathway: f.Values["pathway_id"], Persona: f.Values["persona_id"], Category: oneOf(f, "category", scenario.Categories()),
		Enabled: new(true), Brief: true, Limit: group.MaxScenarios,
	}
	if len(f.Faults) > 0 {
		view.Status = http.StatusUnprocessableEntity
		return view, nil
	}
	found, err := p.cfg.Tests.ListScenarios(ctx, r.Org(), find, 0)
	data.Scenarios, data.More = found.Items, !found.Next.IsZero()
	return view, err
}

// startBatch starts a batch, or shows the form again with its faults.
func (p pages) startBatch(ctx context.Context, r *page.Request) (page.Answer, error) {
	data := newGroup{form: readForm(r, batchFields), Path: batchesPath, Name: "batch", Chosen: r.PostForm["scenario_ids"]}
	g, err := data.limits()
	if err == nil {
		var b group.Batch
		b, _, err = p.cfg.Tests.StartBatch(ctx, r.Org(), group.BatchRequest{
			Scenarios: data.Chosen, Version: g.version, Budget: g.budget, Concurrency: g.concurrency,
			Publish: data.Values["publish_on_pass"] != "", Trigger: group.ByDashboard,
		})
		if err == nil {
			return page.SeeOther{To: page.Path(batchesPath, b.ID), Notice: "The tests were started."}, nil
		}
	}
	return p.notStarted(ctx, r, data, err, batchFields)
}

// startSet starts a simulation set, or shows the form again with its faults.
func (p pages) startSet(ctx context.Context, r *page.Request) (page.Answer, error) {
	data := newGroup{form: readForm(r, setFields), Path: setsPath, Name: "simulation set", Set: true, Chosen: r.PostForm["scenario_ids"]}
	g, err := data.limits()
	if err == nil {
		var b group.Batch
		b, err = p.cfg.Tests.StartSet(ctx, r.Org(), group.SetRequest{
			Scenarios: data.Chosen, Simulations: g.simulations, Version: g.version, Budget: g.budget, Concurrency: g.concurrency,
			Attribute: data.Values["attribute_flakes"] != "", Trigger: group.ByDashboard,
		})
		if err == nil {
			return page.SeeOther{To: page.Path(setsPath, b.ID), Notice: "The tests were started."}, nil
		}
	}
	return p.notStarted(ctx, r, data, err, setFields)
}

// notStarted shows the form again with the faults in err, or returns err if the user cannot correct it. The faults of single scenarios are
// shown at the list of scenarios.
func (p pages) notStarted(ctx context.Context, r *page.Request, data newGroup, err error, fields []string) (page.Answer, error) {
	faults, ok := faultsOf(err, fields...)
	if !ok {
		return nil, err
	}
	if text := faults[""]; strings.HasPrefix(text, "scenario_ids[") {
		faults = page.Faults{"scenario_ids": text}
	}
	data.Faults = faults
	return p.showNewGroup(ctx, r, data)
}

// limits contains the parsed limits in a group's form. Fields of the other type of group are zero.
type limits struct {
	version     *int
	simulations int
	concurrency int
	budget      engine.Limit
}

// limits parses the limits in the form. An invalid value causes CodeBadRequest with the name of the field.
func (f form) limits() (g limits, err error) {
	if g.version, err = f.whole("version_number"); err != nil {
		return g, err
	}
	for name, to := range map[string]*int{
		"simulations_per_scenario": &g.simulations, "concurrency": &g.concurrency, "budget.tokens": &g.budget.Tokens,
	} {
		n, err := f.whole(name)
		if err != nil {
			return g, err
		}
		if n != nil {
			*to = *n
		}
	}
	if text := f.Values["budget.cost"]; text != "" {
		amount, err := strconv.ParseFloat(text, 64)
		cost, ok := price.MoneyOf(amount)
		if err != nil || !ok {
			return g, callwright.Invalid("budget.cost", "must be an amount from 0 to %.0f, such as 2.50", float64(price.MaxAmount))
		}
		g.budget.Cost = cost
	}
	return g, nil
}

// IsChosen reports whether a scenario is selected in the form.
func (g *newGroup) IsChosen(id string) bool { return slices.Contains(g.Chosen, id) }
