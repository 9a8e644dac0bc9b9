package report

import (
	"encoding/json"
	"io"
	"time"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
)

// These types are the JSON form of a report. Member names follow the /v1 contract.
type (
	jsonReport struct {
		Name      string         `json:"name"`
		At        time.Time      `json:"at,omitzero"`
		Took      int64          `json:"duration_ms"`
		ExitCode  int            `json:"exit_code"`
		Scenarios []jsonScenario `json:"scenarios"`
	}
	jsonScenario struct {
		ID       string    `json:"scenario_id,omitempty"`
		Name     string    `json:"scenario_name"`
		Category string    `json:"category,omitempty"`
		Total    int       `json:"total_runs"`
		Passed   int       `json:"passed"`
		Failed   int       `json:"failed"`
		Errors   int       `json:"errors"`
		Rate     *float64  `json:"pass_rate"`
		Low      *float64  `json:"interval_low"`
		High     *float64  `json:"interval_high"`
		Coverage float64   `json:"coverage"`
		Flaky    bool      `json:"is_flaky"`
		Runs     []jsonRun `json:"runs"`
	}
	jsonRun struct {
		ID      string           `json:"id,omitempty"`
		Status  engine.Verdict   `json:"status"`
		Score   *float64         `json:"overall_score"`
		End     assert.EndReason `json:"end_reason,omitempty"`
		Error   string           `json:"error_message,omitempty"`
		Took    int64            `json:"duration_ms"`
		Turns   []jsonTurn       `json:"chat_history"`
		Results []jsonResult     `json:"assertion_results"`

		Way      []string `json:"nodes_visited,omitempty"` // names of the visited nodes
		Events   []string `json:"events,omitempty"`
		Warnings []string `json:"warnings,omitempty"`
	}
	jsonTurn struct {
		Role    string `json:"role"` // "user" is the caller
		Content string `json:"content"`
	}
	jsonResult struct {
		ID        string         `json:"assertion_id"`
		Type      assert.Type    `json:"type"`
		Name      string         `json:"name,omitempty"`
		Required  bool           `json:"is_required"`
		Weight    float64        `json:"weight"`
		Status    assert.Outcome `json:"status"`
		Score     *float64       `json:"score"`
		Code      assert.Code    `json:"failure_code,omitempty"`
		Reasoning string         `json:"reasoning"`
		Expected  any            `json:"expected,omitempty"`
		Actual    any            `json:"actual,omitempty"`
	}
)

// JSON writes a report as JSON. Members that the /v1 contract also contains have its names.
func JSON(w io.Writer, r Report) error {
	out := jsonReport{Name: r.Name, At: r.At.UTC(), Took: r.Took.Milliseconds(), ExitCode: Exit(r), Scenarios: []jsonScenario{}}
	if r.At.IsZero() {
		out.At = time.Time{}
	}
	for _, s := range r.Scenarios {
		d := s.Describe()
		js := jsonScenario{
			ID: s.ID, Name: s.Name, Category: string(s.Category), Total: d.Total, Passed: d.Passed, Failed: d.Failed, Errors: d.Errors,
			Rate: d.Rate, Coverage: d.Coverage, Flaky: d.IsFlaky, Runs: []jsonRun{},
		}
		if d.Interval != nil {
			js.Low, js.High = &d.Interval.Low, &d.Interval.High
		}
		for _, run := range s.Runs {
			js.Runs = append(js.Runs, jsonOf(run))
		}
		out.Scenarios = append(out.Scenarios, js)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

func jsonOf(r Run) jsonRun {
	out := jsonRun{
		ID: r.ID, Status: r.Verdict, Score: r.Score, End: r.End, Error: r.Error, Took: r.Took.Milliseconds(), Turns: []jsonTurn{},
		Results: []jsonResult{}, Way: r.Way, Events: r.Events, Warnings: r.Warnings,
	}
	for _, t := range r.Turns {
		role := "assistant"
		if t.Role == llm.RoleCaller {
			role = "user"
		}
		out.Turns = append(out.Turns, jsonTurn{role, t.Text})
	}
	for _, a := range r.Results {
		out.Results = append(out.Results, jsonResult{
			a.Assertion, a.Type, a.Name, a.Required, a.Weight, a.Outcome, a.Score, a.Code, a.Reasoning, a.Expected, a.Actual,
		})
	}
	return out
}
