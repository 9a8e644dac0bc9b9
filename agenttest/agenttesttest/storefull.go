package agenttesttest

import (
	"encoding/json"
	"time"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/stats"
)

// anyValues returns values of every JSON type.
func anyValues() map[string]any {
	return map[string]any{
		"text": words, words: "name", "empty": "", "null": nil, "yes": true, "no": false, "zero": 0.0,
		"number": 1.5, "negative": -12345678901.25, "large": 1e21, "small": 1e-7, "count": 1234567890123.0,
		"list": []any{"x", 1.0, nil, true, []any{}, map[string]any{}},
		"deep": map[string]any{"k": map[string]any{"k": []any{map[string]any{"\u96ea": "\u2603"}}}},
	}
}

// FullScenario returns a scenario of organization a with a value in each field, including nested ones.
func FullScenario(id string) scenario.Scenario {
	least := 0.75
	return scenario.Scenario{
		ID: id, Org: "a", Pathway: "p1", Persona: "persona 1", Name: words + id, Description: words, Category: scenario.EdgeCase,
		Kind: scenario.Replay, CallerPrompt: words, CallerName: words, Instructions: words, MaxTurns: 7, RequestData: anyValues(),
		Messages:  []scenario.Message{{Role: llm.RoleCaller, Text: words, Node: "menu", Keyword: words}},
		StartNode: "start", ScoreTone: true, Required: true, Enabled: true, MinScore: &least,
		Webhooks: []scenario.WebhookMock{{
			Node: "pay", Method: "POST", URL: "https://x.example/*", Status: 503, Body: json.RawMessage(`{"a":[null,1.5,"<&>"]}`),
			Delay: 1500 * time.Millisecond, Fault: scenario.ConnectionError,
		}},
		Assertions: []assert.Assertion{{
			ID: "a1", Type: assert.RegexMatch, Name: words, Config: json.RawMessage(`{"pattern":"\\d+"}`), Required: true, Weight: 2.5, Order: 3,
		}},
		Metadata: json.RawMessage(`{"team":"North","deep":{"b":[null],"a":""}}`), CreatedAt: at, UpdatedAt: later(1), Revision: 1,
	}
}

// FullSnapshot returns a snapshot of organization a with a value in each field.
func FullSnapshot(id string) run.Snapshot {
	sc := FullScenario("s1")
	sc.Revision = 4
	return run.Snapshot{ID: id, Org: "a", Scenario: sc, Version: 5, Hash: "5a1b", CreatedAt: later(2)}
}

// FullOutcome returns an outcome with a value in each field.
func FullOutcome() engine.Outcome {
	score, agreement, turn := 0.625, 0.8, 1
	tone := assert.Tone{
		Naturalness: 0.1, Conciseness: 0.2, Empathy: 0.3, Flow: 0.4, BackChanneling: 0.5, TopicTransitions: 0.6, Overall: 0.7,
		Issues: []string{words}, Examples: []assert.ToneExample{{Turn: 1, Category: "flow", Text: words, Sentiment: "negative"}},
		WordsPerTurn: 11.5, RepeatedSentences: 0.25,
	}
	usage, cost := llm.Usage{Input: 1200, Output: 340, Cached: 1000}, engine.Money(123_456_789)
	use := engine.Use{Role: "agent", Use: llm.Use{Model: "m2", Replaced: "m1", Cause: llm.ClassRateLimited, Requests: 3, Failed: 1, Uncounted: 1, Usage: usage}, Cost: &cost}
	return engine.Outcome{
		Verdict: engine.Failed, Error: words, Quota: true, Score: &score, Tone: &tone, Blame: "menu", Warnings: []string{words},
		Evidence: assert.Evidence{
			Org: "a", Run: "r1", Variables: anyValues(), End: assert.EndByCaller,
			Turns:  []assert.Turn{{Role: llm.RoleAgent, Text: words, Node: "start"}, {Role: llm.RoleCaller, Text: "Bye.", Node: "menu"}},
			Visits: []assert.Visit{{Node: "start", Turn: -1}, {Node: "menu", Turn: 1}},
			Webhooks: []assert.Webhook{{
				Node: "pay", Method: "POST", URL: "https://x.example/pay", Header: map[string]string{"X-Key": "redacted", words: words},
				Body: json.RawMessage(`{"amount":9.5,"text":"<&>"}`), Turn: 1, Visit: 2, At: later(3),
			}},
			Graph: assert.Graph{"menu": {Name: words, Next: []string{"pay"}, Fills: []string{"amount"}, Says: words}},
		},
		Results: []assert.Result{{
			Assertion: "a1", Type: assert.LLMJudge, Name: words, Required: true, Weight: 2.5, Outcome: assert.Failed, Score: &score,
			Code: assert.CodeWrongInformation, Reasoning: words, Expected: anyValues(), Actual: []any{"x", nil, 1.5}, Turn: &turn,
			Node: "menu", Quotes: []assert.Quote{{Turn: 1, Text: words, Verified: true}}, Agreement: &agreement, Tone: &tone, Usage: usage,
			Samples: []assert.Sample{{Verdict: "pass", Score: &score, Label: words, Reasoning: words, Model: "judge-1"}},
		}},
		Turns: []engine.Turn{{
			Index: 1, Node: "menu", Notes: []engine.Note{{Kind: "decision", Node: "menu", Text: words}},
			CallerTook: 123456789, Took: 987654321, Usage: engine.Usage{Caller: usage, Agent: usage, Judge: usage},
			Uses: []engine.Use{use},
		}},
		Uses:   []engine.Use{use},
		Usage:  engine.Usage{Caller: usage, Agent: usage, Judge: usage},
		Spend:  engine.Spend{Tokens: 4620, Cost: 123_456_789, Priced: 12, Unpriced: 1},
		Models: engine.Models{Caller: "caller-1", Agent: "agent-1", Judge: "judge-1"}, ByRules: true, Refused: true, Took: 12345678901,
	}
}

// FullRun returns a run of organization a with a value in each field.
func FullRun(id string) run.Run {
	score, out := 0.625, FullOutcome()
	return run.Run{
		ID: id, Org: "a", Scenario: "s1", Name: words, Pathway: "p1", Persona: "persona 1", Version: 5, Batch: "b1", Trial: 3,
		Snapshot: "snap1", Webhook: "https://x.example/hook?key=" + words, Scripted: true, Experiment: true, Budget: engine.Limit{Tokens: 5000, Cost: 750_000_000}, State: run.Failed, Node: "node 1",
		Attempt: 2, Cancel: true, Outcome: &out, CreatedAt: at, StartedAt: later(1), EndedAt: later(2), Revision: 1,
		Summary: analytics.NewSummary(&score, []string{"start", words}, words),
		Result: run.Result{
			Refused: true,
			Score:   &score, Turns: 4, Duration: 12345678901, Error: words,
			Failure: &run.Failure{
				Assertion: "a1", Type: assert.LLMJudge, Code: assert.CodeMissingStep, Node: "menu", End: assert.EndByCaller, Reason: words,
			},
			Checks: []run.Check{{
				Assertion: "a1", Type: assert.LLMJudge, Name: words, Required: true, Weight: 2.5, Outcome: assert.Failed, Score: &score,
				Code: assert.CodeMissingStep, Reasoning: words, Agreement: &score,
			}},
		},
	}
}

// FullBatch returns a group of organization a with a value in each field.
func FullBatch(id string) group.Batch {
	return group.Batch{
		ID: id, Org: "a", Kind: group.OneEach, Trigger: group.ByPromotion, Pathway: "p1", Persona: "persona 1", Version: 5,
		Hash: "5a1b", Simulations: 3, Webhook: "https://x.example/hook?key=" + words, Publish: true, Over: 4, State: run.Failed, Created: 6,
		Scenarios: []run.Subject{{
			Scenario: "s1", Revision: 4, Name: words, Pathway: "p1", Persona: "persona 1", Version: 5, Snapshot: "snap1",
		}},
		Counts: group.Counts{Passed: 1, Failed: 2, Error: 3, Cancelled: 4}, Cancel: true, Reason: group.StoppedByQuota,
		Budget: engine.Limit{Tokens: 4_000_000_000, Cost: 5_000_000_000_000}, Concurrency: 4,
		Usage: engine.Usage{
			Caller: llm.Usage{Input: 1, Output: 2, Cached: 1}, Agent: llm.Usage{Input: 3, Output: 4, Cached: 2}, Judge: llm.Usage{Input: 5, Output: 6_000_000_000, Cached: 3},
		},
		Spend: engine.Spend{Tokens: 6_000_000_021, Cost: 7_000_000_000_000, Priced: 8, Unpriced: 9},
		Flakes: &group.Flakes{
			Sources: []stats.Source{stats.FromErrors},
			Frozen:  []stats.Frozen{{State: stats.Failed, Again: []stats.State{stats.Failed, stats.Passed}, Digest: "5a1b"}},
		},
		Statistics: FullStatistics(), CreatedAt: at, EndedAt: later(3), Revision: 1,
	}
}

// FullStatistics returns statistics with a value in each field.
func FullStatistics() *group.Statistics {
	value := 0.625
	interval := stats.Interval{Low: 0.25, High: 0.75}
	return &group.Statistics{
		Scenarios: []stats.Scenario{{
			Total: 5, Passed: 1, Failed: 2, Errors: 3, Requested: 6, Rate: &value, Interval: &interval, Coverage: 0.5, Insufficient: true,
			Confidence: stats.Medium, IsFlaky: true, FlakeRate: &value, FlakySignificant: true, Stability: stats.Flaky,
			Scores: stats.Scores{Mean: &value, Median: &value, Min: &value, Max: &value, StdDev: &value}, Worst: "r1",
			Modes: []stats.Mode{{
				Label: words, Count: 2, Share: 0.5, Runs: []string{"r1", "r2"},
				Failure: stats.Failure{Assertion: "a1", Type: "LLM_JUDGE", Code: "missing_step", Node: "menu", End: "caller_ended", Reason: words},
			}},
			PassAt: []stats.PassAt{{K: 3, All: 0.25, Any: 0.75}}, FlakeSource: stats.FromJudge,
		}},
		Overall: stats.Overall{Rate: &value, Interval: &interval, Flaky: 1, Reliable: 2, Runs: 3, Errors: 4},
	}
}

// aScenario returns a scenario of organization a and pathway p1 in which only required fields are set.
func aScenario(id string) scenario.Scenario {
	return scenario.Scenario{
		ID: id, Org: "a", Pathway: "p1", Name: "Scenario " + id, Category: scenario.Custom, Kind: scenario.Agent,
		CreatedAt: at, UpdatedAt: at, Revision: 1,
	}
}

// aSnapshot returns a snapshot of scenario s1.
func aSnapshot(id string) run.Snapshot {
	return run.Snapshot{ID: id, Org: "a", Scenario: aScenario("s1"), Version: 1, Hash: "h", CreatedAt: at}
}

// aRun returns a waiting run of scenario s1.
func aRun(id string) run.Run {
	return run.Run{
		ID: id, Org: "a", Scenario: "s1", Name: "Scenario s1", Pathway: "p1", Version: 1, Snapshot: "snap of " + id,
		State: run.Pending, CreatedAt: at, Revision: 1,
	}
}

// running returns a run in its first attempt on a node.
func running(id, node string) run.Run {
	r := aRun(id)
	r.State, r.Node, r.Attempt, r.StartedAt = run.Running, node, 1, later(1)
	return r
}

// ended returns a passed run that ended the given number of seconds after the base time.
func ended(id string, seconds int) run.Run {
	r := running(id, "node 1")
	r.State, r.EndedAt = run.Passed, later(seconds)
	return r
}

// in returns the run as a member of a group.
func in(r run.Run, batch string, trial int) run.Run {
	r.Batch, r.Trial = batch, trial
	return r
}

// aBatch returns a running group with scenario s1.
func aBatch(id string) group.Batch {
	return group.Batch{
		ID: id, Org: "a", Kind: group.OneEach, Trigger: group.ByAPI, Pathway: "p1", Version: 1, Hash: "h", Simulations: 1,
		Scenarios: []run.Subject{{Scenario: "s1", Name: "Scenario s1", Pathway: "p1", Version: 1, Snapshot: "snap"}},
		State:     run.Running, Created: 1, CreatedAt: at, Revision: 1,
	}
}
