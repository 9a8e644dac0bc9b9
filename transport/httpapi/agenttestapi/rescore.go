package agenttestapi

import (
	"context"
	"encoding/json"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/agenttestoas"
)

// RescoreTestScenario serves POST /v1/agent-testing/scenarios/{id}/rescore. It evaluates assertions on a page of ended runs, without
// changing the runs.
func (a *api) RescoreTestScenario(
	ctx context.Context, req oas.OptTestRescore, params oas.RescoreTestScenarioParams,
) (*oas.TestRescoredReply, error) {
	after, err := callwright.ParseCursor(req.Value.After.Or(""))
	if err != nil {
		return nil, callwright.Invalid("after", "must be a next_cursor of this operation")
	}
	raw, err := json.Marshal(req.Value.Assertions)
	if err != nil {
		return nil, err
	}
	assertions, err := scenario.DecodeAssertions(raw)
	if err != nil {
		return nil, err
	}
	scored, err := a.cfg.Tests.Rescore(ctx, httpapi.Org(ctx), params.ID, agenttest.RescoreRequest{
		Assertions: wire.Change(assertions, req.Value.Assertions != nil), After: after, Limit: req.Value.Limit.Or(0),
	})
	if err != nil {
		return nil, err
	}
	t := scored.Totals
	answer := oas.TestRescored{
		Runs: make([]oas.TestRescoredRun, len(scored.Page.Items)), LeftOut: make([]oas.TestLeftOut, len(scored.Judged)),
		Totals: oas.TestRescoreTotals{
			Runs: t.Runs, Passed: t.Passed, Failed: t.Failed, Error: t.Error, Cancelled: t.Cancelled, Incomplete: t.Incomplete,
			Changed: t.Changed,
		},
		NextCursor: wire.NilText(scored.Page.Next.Cursor()),
	}
	for i, r := range scored.Page.Items {
		answer.Runs[i] = rescoredRecord(r)
	}
	for i, one := range scored.Judged {
		answer.LeftOut[i] = oas.TestLeftOut{
			AssertionID: one.ID, Type: oas.TestAssertionKind(one.Type), Name: one.Name, IsRequired: one.Required,
		}
	}
	return &oas.TestRescoredReply{Data: answer}, nil
}

func rescoredRecord(r agenttest.RescoredRun) oas.TestRescoredRun {
	record := oas.TestRescoredRun{
		RunID: r.Run.ID, Status: oas.TestRunStatus(r.Run.State), Verdict: oas.TestRescoreVerdict(r.Verdict), Changed: r.Changed,
		OverallScore: wire.NilPtr(r.Score), AssertionResults: make([]oas.TestAssertionResult, len(r.Results)), CreatedAt: r.Run.CreatedAt,
	}
	if r.Incomplete {
		record.Verdict = oas.TestRescoreVerdictINCOMPLETE
	}
	for i, result := range r.Results {
		record.AssertionResults[i] = resultRecord(result)
	}
	return record
}
