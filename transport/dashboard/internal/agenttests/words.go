package agenttests

import (
	"encoding/json"
	"html/template"
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/stats"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// option is an option of a select element.
type option struct{ Value, Text string }

var funcs = template.FuncMap{
	"state": stateOf, "groupstate": groupStateOf, "groupstates": groupStates, "outcome": outcomeOf, "vote": voteOf, "score": scoreText, "share": shareText, "json": indented,
	"price": priceText, "ending": endText, "raw": rawText, "number": func(i int) int { return i + 1 },

	"trigger": func(t group.Trigger) string { return triggerWords[t] },

	"nameof": nameOf,

	"maxscan": func() int { return agenttest.MaxScan },

	"stability": stabilityOf, "session": sessionOf, "attempt": attemptOf,

	"states":        func() []option { return anyOf(run.States()) },
	"categories":    func() []option { return anyOf(scenario.Categories()) },
	"triggers":      triggerOptions,
	"sessionstates": func() []option { return anyOf(tornado.States()) },
	"scripted":      func() []option { return []option{{"", "Left out"}, {"true", "Counted"}} },
	"ages":          func() []option { return []option{{"", "Newest first"}, {"asc", "Oldest first"}} },
	"answers":       func() []option { return []option{{"", "Any"}, {"true", "Yes"}, {"false", "No"}} },
}

func anyOf[T ~string](values []T) []option {
	all := []option{{"", "Any"}}
	for _, v := range values {
		all = append(all, option{string(v), page.Words(v)})
	}
	return all
}

// triggerWords maps the triggers of groups to their descriptions.
var triggerWords = map[group.Trigger]string{
	group.ByAPI: "the API", group.ByDashboard: "the dashboard", group.ByCI: "CI", group.ByPromotion: "a promotion",
	group.BySimulation: "a simulation", group.ByTornado: "a tornado session",
}

// groupStates returns the options of the filter by state for the list of groups at a path, with the texts of the badges.
func groupStates(path string) []option {
	all := anyOf(run.States())
	for i, o := range all {
		if path == setsPath && o.Value == string(run.Passed) {
			all[i].Text = setCompleted
		}
	}
	return all
}

// setCompleted is the text of the badge for a simulation set in the state Passed. The text is not "passed", because some of the set's runs
// may have failed.
const setCompleted = "completed"

// groupStateOf returns the badge of a group's state.
func groupStateOf(b group.Batch) page.Badge {
	if b.Kind == group.Simulations && b.State == run.Passed {
		return page.Badge{Kind: "plain", Text: setCompleted}
	}
	return stateOf(b.State)
}

// stateOf returns the badge of a run's state. Groups use the same states.
func stateOf(s run.State) page.Badge {
	kind := "plain"
	switch s {
	case run.Passed:
		kind = "good"
	case run.Failed:
		kind = "bad"
	case run.Error:
		kind = "warn"
	case run.Pending, run.Running:
		kind = "busy"
	case run.Cancelled:
	}
	return page.Badge{Kind: kind, Text: page.Words(s)}
}

// outcomeOf returns the badge of an assertion's outcome.
func outcomeOf(o assert.Outcome) page.Badge {
	switch o {
	case assert.Passed:
		return page.Badge{Kind: "good", Text: "passed"}
	case assert.Failed:
		return page.Badge{Kind: "bad", Text: "failed"}
	case assert.Error:
	}
	return page.Badge{Kind: "warn", Text: "not evaluated"}
}

// voteOf returns the badge of a judge's verdict.
func voteOf(v assert.JudgeVerdict) page.Badge {
	switch v {
	case assert.JudgePass:
		return page.Badge{Kind: "good", Text: "pass"}
	case assert.JudgeFail:
		return page.Badge{Kind: "bad", Text: "fail"}
	case assert.CannotJudge:
	}
	return page.Badge{Kind: "warn", Text: "cannot judge"}
}

// stabilityOf returns the badge of a scenario's stability.
func stabilityOf(s stats.Stability) page.Badge {
	kind := "plain"
	switch s {
	case stats.StablePass:
		kind = "good"
	case stats.StableFail:
		kind = "bad"
	case stats.Flaky:
		kind = "warn"
	case stats.Unknown:
	}
	return page.Badge{Kind: kind, Text: page.Words(s)}
}

// sessionOf returns the badge of a session's state.
func sessionOf(s tornado.State) page.Badge {
	kind := "warn"
	switch s {
	case tornado.Running:
		kind = "busy"
	case tornado.AllPassed:
		kind = "good"
	case tornado.Failed:
		kind = "bad"
	case tornado.Cancelled:
		kind = "plain"
	case tornado.CompletedPartial, tornado.Stuck, tornado.TimedOut:
	}
	return page.Badge{Kind: kind, Text: page.Words(s)}
}

// attemptOf returns the badge of an iteration's outcome.
func attemptOf(o tornado.Outcome) page.Badge {
	kind := "plain"
	switch o {
	case tornado.Accepted:
		kind = "good"
	case tornado.Rejected, tornado.Refused:
		kind = "bad"
	case tornado.Inconclusive, tornado.NoPlan:
		kind = "warn"
	case tornado.IsBaseline, tornado.Unfinished:
	}
	return page.Badge{Kind: kind, Text: page.Words(o)}
}

// scoreText returns a score with two decimals, or a dash for nil.
func scoreText(score *float64) string {
	if score == nil {
		return "–"
	}
	return strconv.FormatFloat(*score, 'f', 2, 64)
}

// shareText returns a share as a percentage, or a dash for nil.
func shareText(share *float64) string {
	if share == nil {
		return "–"
	}
	return strconv.FormatFloat(100**share, 'f', 1, 64) + "%"
}

// priceText returns the cost of a run or a group, or a dash if it is unknown.
func priceText(s engine.Spend) string {
	if money, ok := s.Price(); ok {
		return money.String()
	}
	return "–"
}

// ends maps the reasons why conversations ended to their descriptions.
var ends = map[assert.EndReason]string{
	assert.EndByAgent: "the agent ended it", assert.EndByCaller: "the caller ended it", assert.EndMaxTurns: "it reached the limit of turns",
	assert.EndTurnTimeout: "a turn took too long", assert.EndRunTimeout: "it took too long", assert.EndAgentError: "the agent could not answer",
	assert.EndCallerInvalid: "the simulated caller was off script", assert.EndBudget: "the budget was used up",
	assert.EndCancelled: "it was cancelled", assert.EndLoop: "the agent went round in a loop",
}

// endText describes why a conversation ended.
func endText(e assert.EndReason) string {
	if text, ok := ends[e]; ok {
		return text
	}
	return string(e)
}

// maxJSON is the maximum length of shown JSON, in bytes.
const maxJSON = 8000

// indented returns data as indented JSON of at most maxJSON bytes, or an empty text if there are no data.
func indented(data map[string]any) (string, error) {
	if len(data) == 0 {
		return "", nil
	}
	text, err := json.MarshalIndent(data, "", "  ")
	return callwright.Clip(string(text), maxJSON), err
}

// rawText returns stored JSON unchanged, up to maxJSON bytes.
func rawText(data json.RawMessage) string { return callwright.Clip(string(data), maxJSON) }
