package agenttestapi

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/go-faster/jx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/pathwaywire"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/agenttestoas"
)

// StartTestRun serves POST /v1/agent-testing/scenarios/{id}/run. It queues a run of a scenario.
func (a *api) StartTestRun(
	ctx context.Context, req oas.OptTestRunStart, params oas.StartTestRunParams,
) (*oas.TestRunStartedReply, error) {
	with, err := wire.Values("request_data_override", req.Value.RequestDataOverride.Value)
	if err != nil {
		return nil, err
	}
	run, err := a.cfg.Tests.StartRun(ctx, httpapi.Org(ctx), params.ID, run.Request{
		Version: wire.Ptr(req.Value.VersionNumber.Get()), Override: with, Webhook: req.Value.WebhookURL.Or(""),
		Budget: budgetOf(req.Value.Budget),
	})
	if err != nil {
		return nil, err
	}
	httpapi.LogID(ctx, "run_id", run.ID)
	return &oas.TestRunStartedReply{Data: oas.TestRunStarted{RunID: run.ID, Status: oas.TestRunStatus(run.State)}}, nil
}

// defaultRuns is the default number of runs, batches or sets on a page.
const defaultRuns = 50

// ListTestRuns serves GET /v1/agent-testing/runs. It returns a page of runs without their conversations.
func (a *api) ListTestRuns(ctx context.Context, params oas.ListTestRunsParams) (*oas.TestRunListReply, error) {
	f := run.Filter{
		Scenario: params.ScenarioID.Or(""), Pathway: params.PathwayID.Or(""), Persona: params.PersonaID.Or(""),
		Batch: params.BatchID.Or(""), Limit: params.Limit.Or(defaultRuns), Offset: params.Offset.Or(0),
	}
	if status, ok := params.Status.Get(); ok {
		f.States = []run.State{run.State(status)}
	}
	runs, total, err := a.cfg.Tests.ListRuns(ctx, httpapi.Org(ctx), f)
	if err != nil {
		return nil, err
	}
	return &oas.TestRunListReply{Data: oas.TestRunPage{Runs: summaries(runs), TotalCount: total}}, nil
}

// GetTestRun serves GET /v1/agent-testing/runs/{id}. It returns a run with its conversation and results.
func (a *api) GetTestRun(ctx context.Context, params oas.GetTestRunParams) (*oas.TestRunReply, error) {
	run, _, err := a.cfg.Tests.GetRun(ctx, httpapi.Org(ctx), params.ID)
	if err != nil {
		return nil, err
	}
	record, err := runRecord(run)
	return &oas.TestRunReply{Data: record}, err
}

// runRecord translates a run with its outcome.
func runRecord(r run.Run) (oas.TestRun, error) {
	record := oas.TestRun{
		ID: r.ID, ScenarioID: r.Scenario, PathwayID: wire.NilText(r.Pathway), PersonaID: wire.NilText(r.Persona),
		BatchID: wire.NilText(r.Batch), VersionNumber: wire.NilInt(r.Version), Status: oas.TestRunStatus(r.State),
		TurnCount: r.Result.Turns, DurationMs: int(r.Result.Duration.Milliseconds()), OverallScore: wire.NilPtr(r.Result.Score),
		ErrorMessage: errorMessage(r), Cost: oas.NilFloat64{Null: true}, Budget: budgetRecord(r.Budget), CreatedAt: r.CreatedAt, StartedAt: nilTime(r.StartedAt),
		CompletedAt: nilTime(r.EndedAt), Metadata: oas.TestRunMetadata{NodeIDToName: oas.TestNodeNames{}},
	}
	var o engine.Outcome
	if r.Outcome != nil {
		o = *r.Outcome
	}
	e := &o.Evidence
	var err error
	if record.VariablesExtracted, err = wire.Raw(e.Variables); err != nil {
		return record, err
	}
	record.ChatHistory = make([]oas.TestChatMessage, len(e.Turns))
	for i, t := range e.Turns {
		record.ChatHistory[i] = oas.TestChatMessage{Role: speakerOf(t.Role), Content: t.Text}
	}
	record.NodesVisited = make([]string, len(e.Visits))
	for i, v := range e.Visits {
		record.NodesVisited[i] = v.Node
	}
	record.CurrentNodeID.SetToNull()
	if n := len(e.Visits); n > 0 {
		record.CurrentNodeID.SetTo(e.Visits[n-1].Node)
	}
	record.EndReason = oas.NilTestRunEndReason{Value: oas.TestRunEndReason(e.End), Null: e.End == ""}
	record.ServiceToneScore = toneRecord(o.Tone)
	record.Usage, record.Cost, record.Models = usageRecords(o.Usage), costRecord(o.Spend), useRecords(o.Uses)
	if record.AssertionResults, err = resultRecords(o.Results); err != nil {
		return record, err
	}
	for id, n := range e.Graph {
		record.Metadata.NodeIDToName[id] = n.Name
	}
	for _, w := range o.Warnings {
		record.Metadata.Warnings = append(record.Metadata.Warnings, callwright.Clip(w, maxWarning))
	}
	if r.Scripted {
		record.Metadata.LlmAdapter.SetTo("scripted")
	}
	record.Metadata.TurnDetails, err = turnRecords(o.Turns)
	return record, err
}

// maxWarning is the maximum length of a warning, in bytes.
const maxWarning = 2000

// summaries translates runs without their conversations.
func summaries(runs []run.Run) []oas.TestRunSummary {
	list := make([]oas.TestRunSummary, len(runs))
	for i, r := range runs {
		list[i] = oas.TestRunSummary{
			ID: r.ID, ScenarioID: r.Scenario, PathwayID: wire.NilText(r.Pathway), PersonaID: wire.NilText(r.Persona),
			BatchID: wire.NilText(r.Batch), VersionNumber: wire.NilInt(r.Version), Status: oas.TestRunStatus(r.State),
			TurnCount: r.Result.Turns, DurationMs: int(r.Result.Duration.Milliseconds()), OverallScore: wire.NilPtr(r.Result.Score),
			ErrorMessage: errorMessage(r), Scenario: oas.TestScenarioRef{ID: r.Scenario, Name: r.Name}, CreatedAt: r.CreatedAt,
			StartedAt: nilTime(r.StartedAt), CompletedAt: nilTime(r.EndedAt), AssertionResults: []oas.TestAssertionResult{},
		}
		if r.Outcome == nil {
			continue
		}
		for _, result := range r.Outcome.Results {
			list[i].AssertionResults = append(list[i].AssertionResults, resultRecord(result))
		}
	}
	return list
}

// maxMessage is the maximum length of error_message, in bytes.
const maxMessage = 2000

func errorMessage(r run.Run) wire.Nil[string] {
	return wire.NilText(callwright.Clip(r.Result.Error, maxMessage))
}

func resultRecords(results []assert.Result) ([]oas.TestAssertionResult, error) {
	records := make([]oas.TestAssertionResult, len(results))
	for i, r := range results {
		records[i] = resultRecord(r)
		records[i].Evidence = make([]oas.TestEvidence, len(r.Quotes))
		for j, q := range r.Quotes {
			records[i].Evidence[j] = oas.TestEvidence{Turn: q.Turn, Quote: q.Text, Verified: q.Verified}
		}
		for value, to := range map[*jx.Raw]any{&records[i].Expected: r.Expected, &records[i].Actual: r.Actual} {
			if to == nil {
				continue
			}
			raw, err := json.Marshal(to)
			if err != nil {
				return nil, err
			}
			*value = raw
		}
	}
	return records, nil
}

// resultRecord translates the result of an assertion, without its evidence and without the expected and the actual value.
func resultRecord(r assert.Result) oas.TestAssertionResult {
	record := oas.TestAssertionResult{
		AssertionID: r.Assertion, Type: oas.TestAssertionKind(r.Type), Name: r.Name, IsRequired: r.Required, Weight: r.Weight,
		Status: oas.TestAssertionStatus(r.Outcome), Passed: oas.NewNilBool(r.Outcome == assert.Passed), Score: wire.NilPtr(r.Score),
		Reasoning: r.Reasoning, FailureCode: wire.OptNilText(string(r.Code)),
	}
	if r.Outcome == assert.Error {
		record.Passed.SetToNull()
	}
	record.Agreement.SetToNull()
	if r.Agreement != nil {
		record.Agreement.SetTo(*r.Agreement)
	}
	return record
}

func toneRecord(t *assert.Tone) oas.NilTestToneScore {
	if t == nil {
		return oas.NilTestToneScore{Null: true}
	}
	record := oas.TestToneScore{
		Naturalness: t.Naturalness, Conciseness: t.Conciseness, Empathy: t.Empathy, FlowPreservation: t.Flow,
		BackChanneling: t.BackChanneling, TopicTransitions: t.TopicTransitions, OverallToneScore: t.Overall,
		Issues: append([]string{}, t.Issues...), Examples: make([]oas.TestToneExample, len(t.Examples)),
	}
	for i, e := range t.Examples {
		record.Examples[i] = oas.TestToneExample{Turn: e.Turn, Category: e.Category, Text: e.Text, Sentiment: e.Sentiment}
	}
	return oas.NewNilTestToneScore(record)
}

// usageRecord returns the tokens of a role.
func usageRecord(r oas.TestUsageRole, u llm.Usage) oas.TestUsage {
	record := oas.TestUsage{Role: r, InputTokens: u.Input, OutputTokens: u.Output}
	if u.Cached > 0 {
		record.CachedTokens.SetTo(u.Cached)
	}
	return record
}

// usageRecords returns the tokens of each role that has used a model.
func usageRecords(u engine.Usage) []oas.TestUsage {
	records := []oas.TestUsage{
		usageRecord(oas.TestUsageRoleCaller, u.Caller), usageRecord(oas.TestUsageRoleAgent, u.Agent), usageRecord(oas.TestUsageRoleJudge, u.Judge),
	}
	used := records[:0]
	for _, r := range records {
		if r.InputTokens+r.OutputTokens > 0 {
			used = append(used, r)
		}
	}
	return used
}

// modelUse converts the use of a model to the generated type.
func modelUse(u pathwaywire.ModelUse) oas.ModelUse {
	return oas.ModelUse{
		Model: u.Model, Replaced: u.Replaced, Cause: u.Cause, Requests: u.Requests, Failed: u.Failed, Uncounted: u.Uncounted,
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CachedTokens: u.CachedTokens, Cost: u.Cost,
	}
}

// useRecords translates the models that answered in a run or a turn.
func useRecords(uses []engine.Use) (records []oas.TestModelUse) {
	for _, u := range uses {
		records = append(records, oas.TestModelUse{
			Role: oas.TestModelUseRole(u.Role), Use: modelUse(pathwaywire.PricedUse(u.Use, u.Cost)),
		})
	}
	return records
}

func turnRecords(turns []engine.Turn) ([]oas.TestTurnDetail, error) {
	records := make([]oas.TestTurnDetail, len(turns))
	for i, t := range turns {
		records[i] = oas.TestTurnDetail{
			Turn: t.Index, NodeID: wire.OptText(t.Node), Logs: make([]oas.TestTurnLog, len(t.Notes)), Models: useRecords(t.Uses),
		}
		for j, n := range t.Notes {
			more, err := wire.Raw(map[string]any{"text": strings.ToValidUTF8(n.Text, "\uFFFD"), "node_id": n.Node})
			if err != nil {
				return nil, err
			}
			if n.Node == "" {
				delete(more, "node_id")
			}
			records[i].Logs[j] = oas.TestTurnLog{Type: n.Kind, AdditionalProps: more}
		}
	}
	return records, nil
}
