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

// runList is the page of all runs.
type runList struct {
	Filter filter
	Runs   []run.Run
	Next   string // address of the next page; empty: this is the last
}

// runs shows the runs that match.
func (p pages) runs(ctx context.Context, r *page.Request) (page.Answer, error) {
	data := runList{Filter: readFilter(r, "scenario_id", "pathway_id", "persona_id", "batch_id", "status", "order")}
	f := data.Filter
	after, err := r.After()
	if err != nil {
		return nil, err
	}
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

// every is the time between two renderings of a test that runs.
const every = 2 * time.Second

// oneRun is the page of a run.
type oneRun struct {
	Run      run.Run
	Outcome  engine.Outcome // the zero Outcome: the run has not ended, or never began
	Snapshot run.Snapshot
	Ended    bool
	Visits   []visit
	Analysis *analysis.Analysis // nil: none was requested
	Faults   page.Faults
	Issues   string // query of the issues that are about failures like this one

	evidence
}

// visit is a node that the agent came to.
type visit struct {
	Name string
	Turn ref // after which it came there; a number below 0: it began there
}

// maxVisits is the number of visits that are shown.
const maxVisits = 100

// maxSearch bounds the text by which issues are searched, in bytes.
const maxSearch = 100

// run shows a run. It is live until the run has ended.
func (p pages) run(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.showRun(ctx, r, oneRun{})
}

// issuesAbout returns the query of the issues that failures of a scenario have opened.
func issuesAbout(scenario string) string {
	return "?" + url.Values{"resource_type": {"run"}, "search": {callwright.Clip("Test fails: "+scenario, maxSearch)}}.Encode()
}

// analyze shows a run with why it has failed. An analysis is not kept: each asks the model anew.
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

// showRun shows a run, completing data.
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

// nodeName returns the name of a node; or its id if it is unknown.
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
