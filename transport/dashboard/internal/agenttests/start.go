package agenttests

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// form contains the values of a form and their faults. Its fields have the names of the API.
type form struct {
	Values  map[string]string // as typed
	Faults  page.Faults
	Choices choices
}

func readForm(r *page.Request, fields []string) form {
	f := form{Values: map[string]string{}}
	for _, name := range fields {
		f.Values[name] = r.Field(name)
	}
	return f
}

// whole returns the integer in a field, or nil if the field is empty. Any other value causes CodeBadRequest with the name of the field.
func (f form) whole(name string) (*int, error) {
	if f.Values[name] == "" {
		return nil, nil //nolint:nilnil // as in the domain, nil is no number
	}
	n, err := strconv.Atoi(f.Values[name])
	if err != nil {
		return nil, callwright.Invalid(name, "must be a whole number")
	}
	return &n, nil
}

// runFields lists the fields of the form that starts runs.
var runFields = []string{"version_number", "request_data_override", "simulations_per_scenario"}

// start starts a run of a scenario, or a simulation set if the form states a number of simulations. If the form has faults, start shows the
// form again.
func (p pages) start(ctx context.Context, r *page.Request) (page.Answer, error) {
	f := readForm(r, runFields)
	to, err := p.startRuns(ctx, r, f)
	if err == nil {
		return page.SeeOther{To: to, Notice: "The test was started."}, nil
	}
	var ok bool
	if f.Faults, ok = faultsOf(err, runFields...); !ok {
		return nil, err
	}
	return p.showScenario(ctx, r, f)
}

// startRuns starts a run or a simulation set according to the form, and returns the path of its page.
func (p pages) startRuns(ctx context.Context, r *page.Request, f form) (string, error) {
	id := r.PathValue("id")
	number, err := f.whole("version_number")
	if err != nil {
		return "", err
	}
	many, err := f.whole("simulations_per_scenario")
	if err != nil {
		return "", err
	}
	if many != nil {
		if f.Values["request_data_override"] != "" {
			return "", callwright.Invalid("request_data_override", "must be empty: simulations have the request data of the scenario")
		}
		b, err := p.cfg.Tests.StartSet(ctx, r.Org(), group.SetRequest{
			Scenarios: []string{id}, Simulations: *many, Version: number, Trigger: group.ByDashboard,
		})
		return page.Path("/tests/sets", b.ID), err
	}
	request := run.Request{Version: number}
	if value := f.Values["request_data_override"]; value != "" {
		if err := json.Unmarshal([]byte(value), &request.Override); err != nil {
			return "", callwright.Invalid("request_data_override", `must be a JSON object, such as {"name": "Robin"}`)
		}
	}
	run, err := p.cfg.Tests.StartRun(ctx, r.Org(), id, request)
	return page.Path("/tests/runs", run.ID), err
}
