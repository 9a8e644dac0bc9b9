package agenttestapi

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/stats"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/agenttestoas"
)

// StartTestBatch serves POST /v1/agent-testing/batch-run. It queues one run of each scenario.
func (a *api) StartTestBatch(
	ctx context.Context, req *oas.TestBatchStart, _ oas.StartTestBatchParams,
) (*oas.TestBatchStartedReply, error) {
	b, runs, err := a.cfg.Tests.StartBatch(ctx, httpapi.Org(ctx), group.BatchRequest{
		Scenarios: wire.IDs(req.ScenarioIds), Version: wire.Ptr(req.VersionNumber.Get()), Webhook: req.WebhookURL.Or(""),
		Publish: req.PublishOnPass.Or(false), Trigger: group.ByAPI,
		Budget: budgetOf(req.Budget), Concurrency: int(req.Concurrency.Value),
	})
	if err != nil {
		return nil, err
	}
	httpapi.LogID(ctx, "batch_id", b.ID)
	answer := oas.TestBatchStarted{BatchID: b.ID, Runs: make([]oas.TestBatchRunRef, len(runs))}
	for i, r := range runs {
		answer.Runs[i] = oas.TestBatchRunRef{RunID: r.ID, ScenarioID: r.Scenario}
	}
	return &oas.TestBatchStartedReply{Data: answer}, nil
}

// GetTestBatch serves GET /v1/agent-testing/batches/{id}. It returns a batch with its runs.
func (a *api) GetTestBatch(ctx context.Context, params oas.GetTestBatchParams) (*oas.TestBatchReply, error) {
	b, runs, err := a.cfg.Tests.GetBatch(ctx, httpapi.Org(ctx), params.ID)
	if err != nil {
		return nil, err
	}
	return &oas.TestBatchReply{Data: batchRecord(b, runs)}, nil
}

// batchRecord translates a batch with its runs.
func batchRecord(b group.Batch, runs []run.Run) oas.TestBatch {
	return oas.TestBatch{
		ID: b.ID, Status: oas.TestRunStatus(b.State), VersionNumber: wire.NilInt(b.Version), TotalScenarios: len(b.Scenarios),
		PassedScenarios: b.Counts.Passed, FailedScenarios: b.Counts.Failed, ErrorScenarios: b.Counts.Error,
		CancelledScenarios: b.Counts.Cancelled, Usage: usageRecords(b.Usage), Cost: costRecord(b.Spend), Budget: budgetRecord(b.Budget),
		Concurrency: concurrencyRecord(b.Concurrency), StopReason: stopRecord(b), StopMessage: wire.NilText(b.StopMessage()),
		TriggerSource: oas.TestBatchTriggerSource(b.Trigger), PublishOnPass: b.Publish, CreatedAt: b.CreatedAt,
		CompletedAt: nilTime(b.EndedAt), Runs: summaries(runs),
	}
}

// ListTestBatches serves GET /v1/agent-testing/batches. It returns a page of batches without their runs.
func (a *api) ListTestBatches(ctx context.Context, params oas.ListTestBatchesParams) (*oas.TestBatchListReply, error) {
	batches, total, err := a.cfg.Tests.ListBatches(ctx, httpapi.Org(ctx), group.Filter{
		Kind: group.OneEach, Pathway: params.PathwayID.Or(""), Persona: params.PersonaID.Or(""),
		State: run.State(params.Status.Or("")), Trigger: group.Trigger(params.TriggerSource.Or("")),
		Limit: params.Limit.Or(defaultRuns), Offset: params.Offset.Or(0),
	})
	if err != nil {
		return nil, err
	}
	page := oas.TestBatchPage{Batches: make([]oas.TestBatchSummary, len(batches)), TotalCount: total}
	for i, b := range batches {
		page.Batches[i] = oas.TestBatchSummary{
			ID: b.ID, Status: oas.TestRunStatus(b.State), PathwayID: wire.NilText(b.Pathway), PersonaID: wire.NilText(b.Persona),
			VersionNumber: wire.NilInt(b.Version), TotalScenarios: b.Tested, PassedScenarios: b.Counts.Passed,
			FailedScenarios: b.Counts.Failed, ErrorScenarios: b.Counts.Error, CancelledScenarios: b.Counts.Cancelled,
			TriggerSource: oas.TestBatchSummaryTriggerSource(b.Trigger), PublishOnPass: b.Publish, Usage: usageRecords(b.Usage),
			Cost: costRecord(b.Spend), Budget: budgetRecord(b.Budget), Concurrency: concurrencyRecord(b.Concurrency),
			StopReason: stopRecord(b.Batch), StopMessage: wire.NilText(b.StopMessage()), CreatedAt: b.CreatedAt, CompletedAt: nilTime(b.EndedAt),
		}
	}
	return &oas.TestBatchListReply{Data: page}, nil
}

// CreateTestSet serves POST /v1/agent-testing/simulation-sets. It queues the given number of runs of each scenario.
func (a *api) CreateTestSet(
	ctx context.Context, req *oas.TestSetStart, _ oas.CreateTestSetParams,
) (*oas.TestSetStartedReply, error) {
	simulations, given := req.SimulationsPerScenario.Get()
	if !given {
		return nil, callwright.Invalid("simulations_per_scenario", "is required")
	}
	b, err := a.cfg.Tests.StartSet(ctx, httpapi.Org(ctx), group.SetRequest{
		Scenarios: wire.IDs(req.ScenarioIds), Simulations: simulations,
		Version: wire.Ptr(req.VersionNumber.Get()), Pathway: wire.ID(req.PathwayID.Or("")),
		Persona: wire.ID(req.PersonaID.Or("")), Attribute: req.AttributeFlakes.Or(false), Trigger: group.BySimulation,
		Budget: budgetOf(req.Budget), Concurrency: int(req.Concurrency.Value),
	})
	if err != nil {
		return nil, err
	}
	httpapi.LogID(ctx, "simulation_set_id", b.ID)
	return &oas.TestSetStartedReply{Data: oas.TestSetStarted{
		SimulationSetID: b.ID, Status: oas.TestRunStatus(b.State), SimulationsPerScenario: b.Simulations,
		TotalScenarios: len(b.Scenarios), CreatedAt: b.CreatedAt,
	}}, nil
}

// ListTestSets serves GET /v1/agent-testing/simulation-sets. It returns a page of simulation sets.
func (a *api) ListTestSets(ctx context.Context, params oas.ListTestSetsParams) (*oas.TestSetListReply, error) {
	sets, total, err := a.cfg.Tests.ListBatches(ctx, httpapi.Org(ctx), group.Filter{
		Kind: group.Simulations, Pathway: params.PathwayID.Or(""), Persona: params.PersonaID.Or(""),
		State: run.State(params.Status.Or("")), Trigger: group.Trigger(params.TriggerSource.Or("")),
		Limit: params.Limit.Or(defaultRuns), Offset: params.Offset.Or(0),
	})
	if err != nil {
		return nil, err
	}
	page := oas.TestSetPage{SimulationSets: make([]oas.TestSetSummary, len(sets)), TotalCount: total}
	for i, b := range sets {
		page.SimulationSets[i] = oas.TestSetSummary{
			ID: b.ID, Status: oas.TestRunStatus(b.State), PathwayID: wire.NilText(b.Pathway), PersonaID: wire.NilText(b.Persona),
			VersionNumber: wire.NilInt(b.Version), SimulationsPerScenario: b.Simulations, TotalScenarios: b.Tested,
			TotalRuns: b.Tested * b.Simulations, PassedRuns: b.Counts.Passed, FailedRuns: b.Counts.Failed, ErrorRuns: b.Counts.Error,
			CancelledRuns: b.Counts.Cancelled, Usage: usageRecords(b.Usage), Cost: costRecord(b.Spend), Budget: budgetRecord(b.Budget),
			Concurrency: concurrencyRecord(b.Concurrency), StopReason: stopRecord(b.Batch), StopMessage: wire.NilText(b.StopMessage()), CreatedAt: b.CreatedAt,
			CompletedAt: nilTime(b.EndedAt),
		}
	}
	return &oas.TestSetListReply{Data: page}, nil
}

// GetTestSet serves GET /v1/agent-testing/simulation-sets/{id}. It returns a simulation set with its statistics.
func (a *api) GetTestSet(ctx context.Context, params oas.GetTestSetParams) (*oas.TestSetReply, error) {
	b, st, err := a.cfg.Tests.GetSet(ctx, httpapi.Org(ctx), params.ID)
	if err != nil {
		return nil, err
	}
	each := make(oas.TestSetStatsByScenario, len(b.Scenarios))
	for i, part := range b.Scenarios {
		each[part.Scenario] = scenarioStats(part, st.Scenarios[i])
	}
	return &oas.TestSetReply{Data: oas.TestSet{
		ID: b.ID, Status: oas.TestRunStatus(b.State), SimulationsPerScenario: b.Simulations, TotalScenarios: len(b.Scenarios),
		Usage: usageRecords(b.Usage), Cost: costRecord(b.Spend), Budget: budgetRecord(b.Budget),
		Concurrency: concurrencyRecord(b.Concurrency), StopReason: stopRecord(b), StopMessage: wire.NilText(b.StopMessage()),
		CreatedAt: b.CreatedAt, CompletedAt: nilTime(b.EndedAt),
		Statistics: oas.TestSetStatistics{PerScenario: each, Overall: oas.TestSetOverall{
			AvgPassRate: wire.NilPtr(st.Overall.Rate), FlakyCount: st.Overall.Flaky, ReliableCount: st.Overall.Reliable,
			TotalRuns: b.Total(), ErrorRuns: st.Overall.Errors, Interval: intervalRecord(st.Overall.Interval),
		}},
	}}, nil
}

// maxLabel is the maximum length of a failure mode's label, in bytes.
const maxLabel = 500

func scenarioStats(part run.Subject, s stats.Scenario) oas.TestSetScenarioStats {
	record := oas.TestSetScenarioStats{
		ScenarioID: part.Scenario, ScenarioName: part.Name, TotalRuns: s.Requested, Passed: s.Passed, Failed: s.Failed,
		Errors: s.Errors, PassRate: wire.NilPtr(s.Rate), IsFlaky: s.IsFlaky, FlakeRate: wire.NilPtr(s.FlakeRate),
		FlakySignificant: s.FlakySignificant, WorstRunID: wire.NilText(s.Worst), Coverage: s.Coverage, Insufficient: s.Insufficient,
		Confidence: oas.TestSetScenarioStatsConfidence(s.Confidence), Interval: intervalRecord(s.Interval),
		Stability: oas.TestSetScenarioStatsStability(s.Stability),
		FlakeSource: oas.NilTestSetScenarioStatsFlakeSource{
			Value: oas.TestSetScenarioStatsFlakeSource(s.FlakeSource), Null: s.FlakeSource == stats.NoSource,
		},
		Scores: oas.TestScoreStats{
			Mean: wire.NilPtr(s.Scores.Mean), Median: wire.NilPtr(s.Scores.Median), Stddev: wire.NilPtr(s.Scores.StdDev),
			Min: wire.NilPtr(s.Scores.Min), Max: wire.NilPtr(s.Scores.Max),
		},
		CommonFailureModes: make([]oas.TestFailureMode, len(s.Modes)), PassAtK: make([]oas.TestPassAtK, len(s.PassAt)),
	}
	for i, m := range s.Modes {
		record.CommonFailureModes[i] = oas.TestFailureMode{
			Label: callwright.Clip(m.Label, maxLabel), Count: m.Count, Share: m.Share, RunIds: m.Runs,
			AssertionID: wire.OptNilText(m.Failure.Assertion), FailureCode: wire.OptNilText(m.Failure.Code),
			NodeID: wire.OptNilText(m.Failure.Node),
		}
	}
	for i, p := range s.PassAt {
		record.PassAtK[i] = oas.TestPassAtK{K: p.K, AllPass: p.All, AnyPass: p.Any}
	}
	return record
}

func intervalRecord(i *stats.Interval) oas.NilTestInterval {
	if i == nil {
		return oas.NilTestInterval{Null: true}
	}
	return oas.NewNilTestInterval(oas.TestInterval{Low: i.Low, High: i.High})
}
