// Package report writes the results of tests for people and for pipelines, as JUnit, JSON and Markdown, and returns the exit code of a
// command. All of them distinguish failures of the agent from errors of the test.
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

// Report contains the results of one or more scenarios.
type Report struct {
	Name      string    // title, for example the tested pathway
	At        time.Time // time at which the tests began
	Took      time.Duration
	Scenarios []Scenario
}

// Scenario contains the results of a scenario's runs.
type Scenario struct {
	ID       string // may be empty
	Name     string
	Category scenario.Category
	Asked    int   // number of requested runs; 0 means the number of Runs
	Runs     []Run // in the order in which they began
}

// Run is the result of one run of a scenario.
type Run struct {
	ID      string
	Verdict engine.Verdict
	Error   string // reason for the verdict Error
	Score   *float64
	End     assert.EndReason
	Turns   []assert.Turn
	Results []assert.Result
	Took    time.Duration

	Way      []string // names of the visited nodes, in order
	Events   []string // requests, errors and loops of the run, in order
	Warnings []string // warnings about the verdict
}

// Format is a function that writes a report in a format.
type Format func(w io.Writer, r Report) error

// Formats returns all formats by name.
func Formats() map[string]Format {
	return map[string]Format{"junit": JUnit, "json": JSON, "markdown": Markdown}
}

// NewRun returns the Run with the results of an outcome. Way and Events are cut to 100 entries each.
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

// maxShown is the maximum number of nodes, and of events, that a report contains per run.
const maxShown = 100

// These constants are the exit codes of a command that runs tests.
const (
	ExitPassed = 0
	ExitFailed = 1 // a run failed
	ExitErrors = 2 // no run failed, but a run was an error, too few runs were scored, or the report is empty
	ExitUsage  = 3 // wrong usage of the command; no test was run
)

// Exit returns the exit code of a report: ExitFailed if a run failed, else ExitErrors if a run was an error, too few runs were scored or
// the report is empty, else ExitPassed.
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

// failure returns the result that represents a run's failure: the failed required assertion with the greatest weight. If no required
// assertion failed, the result states that the score was too low.
func (r Run) failure() assert.Result {
	worst := assert.Result{Reasoning: "The score is lower than the least score of the scenario.", Weight: -1}
	for _, a := range r.Results {
		if a.Required && a.Outcome == assert.Failed && a.Weight > worst.Weight {
			worst = a
		}
	}
	return worst
}

// title returns the name of an assertion or, without a name, its type.
func title(a assert.Result) string {
	if a.Name != "" {
		return a.Name
	}
	return string(a.Type)
}
