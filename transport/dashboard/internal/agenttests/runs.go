package agenttests

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// runList contains the data of the page that lists runs.
type runList struct {
	Filter filter
	Runs   []run.Run
	Next   string // path of the next page; empty on the last page
}

// runs shows the runs that match the filter.
func (p pages) runs(ctx context.Context, r *page.Request) (page.Answer, error) {
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	f, err := p.readFilter(ctx, r, "scenario_id", "pathway_id", "persona_id", "batch_id", "status", "order")
	if err != nil {
		return nil, err
	}
	data := runList{Filter: f}
	oldest := oneOf(f, "order", []string{"asc"}) != ""
	find := run.Filter{
		Oldest:   oldest,
		Scenario: f.Values["scenario_id"], Pathway: f.Values["pathway_id"], Persona: f.Values["persona_id"], Batch: f.Values["batch_id"],
		After: after, Limit: pageSize,
	}
	if state := oneOf(f, "status", run.States()); state != "" {
		find.States = []run.State{state}
	}
	view := f.view("runs", "Test runs", &data)
	if len(f.Faults) > 0 {
		return view, nil
	}
	found, err := p.cfg.Tests.PageRuns(ctx, r.Org(), find)
	if err != nil {
		return nil, err
	}
	data.Runs, data.Next = found.Items, r.Next(found.Next)
	if after.IsZero() && !oldest {
		view.Live = []string{"runs"}
	}
	return view, nil
}

// every is the interval at which the page of a running test is rendered.
const every = 2 * time.Second

// oneRun contains the data of a run's page.
type oneRun struct {
	Run      run.Run
	Outcome  engine.Outcome // zero if the run has no outcome
	Snapshot run.Snapshot
	Ended    bool
	Visits   []visit
	Analysis *analysis.Analysis // nil if none was requested
	Faults   page.Faults
	Issues   string // query of the issues for failures of the run's scenario

	evidence
}

// visit is a node that the agent reached.
type visit struct {
	Name string
	Turn ref // the turn after which the agent reached it; a negative number means before the first turn
}

// maxVisits is the maximum number of visits on the page.
const maxVisits = 100

// maxSearch is the maximum length of the text with which issues are searched, in bytes.
const maxSearch = 100

// run shows a run. The page is live until the run has ended.
func (p pages) run(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.showRun(ctx, r, oneRun{})
}

// issuesAbout returns the query that finds the issues for failures of a scenario.
func issuesAbout(scenario string) string {
	return "?" + url.Values{"resource_type": {"run"}, "search": {callwright.Clip("Test fails: "+scenario, maxSearch)}}.Encode()
}

// analyze shows a run with an analysis of its failure, or with the reason why the analysis failed. The analysis is not stored: each request
// analyzes the run again.
func (p pages) analyze(ctx context.Context, r *page.Request) (page.Answer, error) {
	a, err := p.cfg.Tests.AnalyzeRun(ctx, r.Org(), r.PathValue("id"))
	if err == nil {
		return p.showRun(ctx, r, oneRun{Analysis: &a})
	}
	faults, ok := page.FaultsOf(err, nil)
	if !ok {
		return nil, err
	}
	return p.showRun(ctx, r, oneRun{Faults: faults})
}

// showRun completes data and shows the run.
func (p pages) showRun(ctx context.Context, r *page.Request, data oneRun) (page.Answer, error) {
	run, snap, err := p.cfg.Tests.GetRun(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	data.Run, data.Snapshot, data.Ended = run, snap, run.State.Ended()
	if run.Outcome != nil {
		data.Outcome = *run.Outcome
	}
	if data.evidence, err = readEvidence(r, r.Below(page.Path("/tests/runs", run.ID)), &data.Outcome); err != nil {
		return nil, err
	}
	data.Issues = issuesAbout(run.Name)
	for _, v := range data.Outcome.Evidence.Visits[:min(maxVisits, len(data.Outcome.Evidence.Visits))] {
		data.Visits = append(data.Visits, visit{nodeName(&data.Outcome.Evidence, v.Node), data.toTurn(r, v.Turn)})
	}
	view := &page.View{Page: "run", Title: "Run of " + run.Name, Data: data}
	switch {
	case len(data.Faults) > 0:
		view.Status = http.StatusUnprocessableEntity
	case !data.Ended:
		view.Live, view.Every = []string{"run"}, every
	}
	return view, nil
}

// nodeName returns the name of a node, or its id if it has no name.
func nodeName(e *assert.Evidence, id string) string {
	if n := e.Graph[id]; n.Name != "" {
		return n.Name
	}
	return id
}

// cancelRun cancels a run that has not ended.
func (p pages) cancelRun(ctx context.Context, r *page.Request) (page.Answer, error) {
	id := r.PathValue("id")
	return cancelled(page.Path("/tests/runs", id), "The run is being cancelled.", p.cfg.Tests.CancelRun(ctx, r.Org(), id))
}
