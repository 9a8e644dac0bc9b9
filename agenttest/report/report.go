// Package report writes what came out of tests for people and for pipelines: JUnit, JSON and Markdown, and the exit code of a
// command. Failures of the agent and errors of the test are always told apart.
package report

import (
	"cmp"
	"io"
	"time"

	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/stats"
)

// Report is what came out of one or more scenarios, each run once or several times.
type Report struct {
	Name      string    // such as the pathway that was tested
	At        time.Time // when the tests began
	Took      time.Duration
	Scenarios []Scenario
}

// Scenario is what came out of a scenario.
type Scenario struct {
	ID       string // empty: none
	Name     string
	Category scenario.Category
	Asked    int   // runs that were asked for; 0: as many as there are
	Runs     []Run // in the order in which they began
}

// Run is one run of a scenario.
type Run struct {
	ID      string
	Verdict engine.Verdict
	Error   string // why the verdict is Error
	Score   *float64
	End     assert.EndReason
	Turns   []assert.Turn
	Results []assert.Result
	Took    time.Duration

	Way      []string // the nodes that the agent came to, by name, in order
	Events   []string // requests that it made and what went wrong, in order
	Warnings []string // what to know of the verdict
}

// Format writes a report.
type Format func(w io.Writer, r Report) error

// Formats are all formats by name.
func Formats() map[string]Format {
	return map[string]Format{"junit": JUnit, "json": JSON, "markdown": Markdown}
}

// NewRun returns the run of an outcome.
func NewRun(id string, o engine.Outcome) Run {
	r := Run{
		ID: id, Verdict: o.Verdict, Error: o.Error, Score: o.Score, End: o.Evidence.End, Turns: o.Evidence.Turns, Results: o.Results,
		Took: o.Took, Warnings: o.Warnings,
	}
	for _, v := range o.Evidence.Visits[:min(len(o.Evidence.Visits), maxShown)] {
		r.Way = append(r.Way, cmp.Or(o.Evidence.Graph[v.Node].Name, v.Node))
	}
	for _, t := range o.Turns {
		for _, n := range t.Notes {
			if told := n.Kind == "tool_call" || n.Kind == "error" || n.Kind == "loop"; told && len(r.Events) < maxShown {
				r.Events = append(r.Events, n.Text)
			}
		}
	}
	return r
}

// maxShown is how many nodes and how many events of a run are shown.
const maxShown = 100

// The exit codes of a command that runs tests.
const (
	ExitPassed = 0
	ExitFailed = 1 // a run has failed
	ExitErrors = 2 // none has failed, but too few runs say something about the agent
	ExitUsage  = 3 // nothing was run: the command was called wrongly
)

// Exit returns the exit code of a report: whether all scored runs have passed and enough of them were scored.
func Exit(r Report) int {
	code := ExitPassed
	for _, s := range r.Scenarios {
		switch d := s.Describe(); {
		case d.Failed > 0:
			return ExitFailed
		case d.Errors > 0, d.Insufficient:
			code = ExitErrors
		}
	}
	if len(r.Scenarios) == 0 {
		return ExitErrors
	}
	return code
}

// Describe returns the statistics of a scenario.
func (s Scenario) Describe() stats.Scenario {
	runs := make([]stats.Run, len(s.Runs))
	for i, r := range s.Runs {
		runs[i] = stats.Run{ID: r.ID, State: states[r.Verdict], Score: r.Score}
		if r.Verdict == engine.Failed {
			f := r.failure()
			runs[i].Failure = &stats.Failure{
				Assertion: f.Assertion, Type: string(f.Type), Code: string(f.Code), End: string(r.End), Reason: f.Reasoning,
			}
		}
	}
	return stats.Describe(runs, max(s.Asked, len(s.Runs)))
}

var states = map[engine.Verdict]stats.State{
	engine.Passed: stats.Passed, engine.Failed: stats.Failed, engine.Error: stats.Error, engine.Cancelled: stats.Cancelled,
}

// failure returns the result that the failure of a run is told by: of the required assertions that have failed, the one that
// weighs most. Without one the score was too low.
func (r Run) failure() assert.Result {
	worst := assert.Result{Reasoning: "The score is lower than the least score of the scenario.", Weight: -1}
	for _, a := range r.Results {
		if a.Required && a.Outcome == assert.Failed && a.Weight > worst.Weight {
			worst = a
		}
	}
	return worst
}

// title names an assertion.
func title(a assert.Result) string {
	if a.Name != "" {
		return a.Name
	}
	return string(a.Type)
}
