package agenttests

import (
	"context"
	"net/http"
	"slices"

	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// filter contains the form above a list. Its fields have the names of the API's parameters.
type filter struct {
	Values  map[string]string // as typed; without empty fields
	Faults  page.Faults
	Choices choices
	Used    bool
}

// readFilter reads the given fields of a filter, and offers the objects that they may name.
func (p pages) readFilter(ctx context.Context, r *page.Request, fields ...string) (f filter, err error) {
	f = filter{Values: map[string]string{}, Faults: page.Faults{}}
	for _, name := range fields {
		if value := r.Query(name); value != "" {
			f.Values[name], f.Used = value, true
		}
	}
	f.Choices, err = p.choices(ctx, r.Org(), f.Values, "All", fields...)
	return f, err
}

// oneOf returns the value of a field. If the value is neither empty nor in the given list, oneOf also adds a fault.
func oneOf[T ~string](f filter, name string, values []T) T {
	value := T(f.Values[name])
	if value != "" && !slices.Contains(values, value) {
		f.Faults[name] = "must be one of the listed values"
	}
	return value
}

// choice returns the value of a field that is "true" or "false", or nil if the field is empty. For any other value it adds a fault and
// returns nil.
func (f filter) choice(name string) *bool {
	switch f.Values[name] {
	case "":
		return nil
	case "true":
		return new(true)
	case "false":
		return new(false)
	}
	f.Faults[name] = "must be true or false"
	return nil
}

// view returns a page whose content the filter selects. The status is 422 if the filter has faults.
func (f filter) view(name, title string, data any) *page.View {
	v := &page.View{Page: name, Title: title, Data: data}
	if len(f.Faults) > 0 {
		v.Status = http.StatusUnprocessableEntity
	}
	return v
}

// scenarioList contains the data of the page that lists scenarios.
type scenarioList struct {
	Filter    filter
	Scenarios []agenttest.Listed
	Next      string // path of the next page; empty on the last page
}

// scenarios shows the scenarios that match the filter, each with its most recent run.
func (p pages) scenarios(ctx context.Context, r *page.Request) (page.Answer, error) {
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	f, err := p.readFilter(ctx, r, "pathway_id", "persona_id", "category", "enabled", "required")
	if err != nil {
		return nil, err
	}
	data := scenarioList{Filter: f}
	find := agenttest.ScenarioFilter{
		Pathway: f.Values["pathway_id"], Persona: f.Values["persona_id"], Category: oneOf(f, "category", scenario.Categories()),
		Enabled: f.choice("enabled"), Required: f.choice("required"), After: after, Limit: pageSize,
	}
	view := f.view("scenarios", "Tests", &data)
	if len(f.Faults) > 0 {
		return view, nil
	}
	found, err := p.cfg.Tests.ListScenarios(ctx, r.Org(), find, 0)
	if err != nil {
		return nil, err
	}
	data.Scenarios, data.Next = found.Items, r.Next(found.Next)
	if after.IsZero() {
		view.Live = []string{"scenarios"}
	}
	return view, nil
}

// oneScenario contains the data of a scenario's page.
type oneScenario struct {
	Scenario scenario.Scenario
	Runs     []run.Run // newest first; at most as many as the constant recent says
	Form     form      // form that starts a run
	Issues   string    // query of the issues for the scenario's failures
}

// recent is the maximum number of runs on the page of a scenario or a simulation set.
const recent = 10

// scenario shows a scenario with its assertions and its newest runs.
func (p pages) scenario(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.showScenario(ctx, r, form{Values: map[string]string{}})
}

func (p pages) showScenario(ctx context.Context, r *page.Request, f form) (page.Answer, error) {
	data := oneScenario{Form: f}
	var err error
	if data.Scenario, err = p.cfg.Tests.Scenario(ctx, r.Org(), r.PathValue("id")); err != nil {
		return nil, err
	}
	found, err := p.cfg.Tests.PageRuns(ctx, r.Org(), run.Filter{Scenario: data.Scenario.ID, Limit: recent})
	if err != nil {
		return nil, err
	}
	data.Runs, data.Issues = found.Items, issuesAbout(data.Scenario.Name)
	view := &page.View{Page: "scenario", Title: data.Scenario.Name, Data: data, Live: []string{"runs"}}
	if len(f.Faults) > 0 {
		view.Status, view.Live = http.StatusUnprocessableEntity, nil
	}
	return view, nil
}
