package join

import (
	"cmp"
	"context"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/triage"
)

// Runs resolves runs of tests for issues; it implements triage.ResourceResolver. It reads their store and not agenttest.Service, because
// that service reports failed runs through FailedRuns, which requires the issues first.
type Runs struct{ Store run.Store }

var _ triage.ResourceResolver = Runs{}

// Find returns the titles and metadata of runs, by id. It omits absent runs.
func (l Runs) Find(ctx context.Context, org callwright.OrgID, ids []string) (map[string]triage.Item, error) {
	return find(ids, func(id string) (triage.Item, error) {
		r, err := l.Store.Run(ctx, org, id)
		return triage.Item{Title: "Test " + r.Name + ", " + formatTime(r.CreatedAt), Metadata: map[string]any{
			"created_at": stamp(r.CreatedAt), "status": string(r.State), "scenario_id": r.Scenario,
		}}, err
	})
}

// Read returns the evidence about a run for analysts: its subject, its outcome, the results of its assertions, the visited nodes (at most
// maxWay) and the whole conversation. It returns CodeNotFound if the organization does not own such a run.
func (l Runs) Read(ctx context.Context, org callwright.OrgID, id string) (triage.Evidence, error) {
	r, err := l.Store.Run(ctx, org, id)
	if err != nil {
		return triage.Evidence{}, err
	}
	f := facts{leftOut: "Requests to other systems, the request data and the values of variables are not shown."}
	f.add("scenario", r.Name)
	f.add("pathway_id", r.Pathway)
	f.add("pathway_version", r.Version)
	f.add("status", string(r.State))
	f.add("error", callwright.Clip(r.Result.Error, maxError))
	f.at("created_at", &r.CreatedAt)
	f.at("ended_at", &r.EndedAt)
	if r.Outcome == nil {
		return triage.Evidence{Facts: f}, nil
	}
	e := r.Outcome.Evidence
	f.add("end_reason", string(e.End))
	f.add("blamed_node", r.Outcome.Blame)
	for _, v := range e.Visits[:min(len(e.Visits), maxWay)] {
		f.list("visited", v.Node)
	}
	for i, result := range r.Outcome.Results {
		one := facts{"type": string(result.Type), "outcome": string(result.Outcome)}
		one.add("name", result.Name)
		one.add("required", result.Required)
		one.add("code", string(result.Code))
		one.add("reasoning", reason(result.Type, result.Reasoning))
		f[fmt.Sprintf("assertion %d", i+1)] = map[string]any(one)
	}
	said := make([]triage.Line, len(e.Turns))
	for i, t := range e.Turns {
		said[i] = triage.Line{Agent: t.Role == llm.RoleAgent, Text: t.Text}
	}
	return triage.Evidence{Facts: f, Lines: said}, nil
}

// reason returns the clipped reasoning of an assertion's result. It returns an empty string for the types whose reasoning may quote values
// of variables or data of a request.
func reason(of assert.Type, text string) string {
	switch of {
	case assert.VariableExtracted, assert.WebhookTriggered, assert.RegexMatch, assert.StringCheck:
		return ""
	default:
		return callwright.Clip(text, maxReason)
	}
}

// maxWay is the maximum number of visited nodes in the evidence about a run, and of history entries in the evidence about a port request.
const maxWay = 200

// FailedRuns reports failed runs of tests as issues; it implements agenttest.Failures. Runs of a scenario that fail alike share one issue.
type FailedRuns struct{ Issues *triage.Service }

var _ agenttest.Failures = FailedRuns{}

// RunFailed reports a failed run. If the run is already attached to the issue, another report changes nothing.
func (f FailedRuns) RunFailed(ctx context.Context, r run.Run) error {
	var failure run.Failure
	if r.Result.Failure != nil {
		failure = *r.Result.Failure
	}
	part := run.Subject{Scenario: r.Scenario, Name: r.Name, Persona: r.Persona, Version: r.Version}
	return f.report(ctx, r.Org, part, failure, "", []string{r.ID})
}

// ModeFailed reports the runs of a simulation set that failed alike, in one report. It attaches only the runs in m.Runs.
func (f FailedRuns) ModeFailed(ctx context.Context, m group.FailureMode) error {
	often := fmt.Sprintf(" in %d of %d runs of a simulation set", m.Count, m.Scored)
	return f.report(ctx, m.Org, m.Scenario, m.Failure, often, m.Runs)
}

func (f FailedRuns) report(
	ctx context.Context, org callwright.OrgID, s run.Subject, failure run.Failure, often string, runs []string,
) error {
	why := cmp.Or(reason(failure.Type, failure.Reason), string(failure.Type)+" "+string(failure.Code))
	what := "pathway"
	if s.Persona != "" {
		what = "persona"
	}
	report := triage.Report{
		Key:   "test/" + s.Scenario + "/" + failure.Key(),
		Title: callwright.Clip("Test fails: "+s.Name+": "+why, maxTitle), Severity: triage.SeverityHigh, Category: "test",
		Detail: fmt.Sprintf("Version %d of the %s fails the scenario %q%s: %s\nRuns that fail alike are attached while the issue is open.",
			s.Version, what, s.Name, often, why),
	}
	for _, id := range runs {
		report.Resources = append(report.Resources, triage.ResourceDraft{Type: triage.ResourceRun, ResourceID: id})
	}
	_, err := f.Issues.Report(ctx, org, triage.System(), report)
	return err
}

// maxTitle is the maximum length of an issue's title, in bytes.
const maxTitle = 200
