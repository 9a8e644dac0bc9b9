package agenttestapi

import (
	"context"

	"github.com/callwright/callwright/agents/llm/price"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/agenttestoas"
)

// CancelTestRun serves POST /v1/agent-testing/runs/{id}/cancel. It cancels a run.
func (a *api) CancelTestRun(ctx context.Context, params oas.CancelTestRunParams) (*oas.TestCancelledReply, error) {
	return cancelled(a.cfg.Tests.CancelRun(ctx, httpapi.Org(ctx), params.ID))
}

// CancelTestBatch serves POST /v1/agent-testing/batches/{id}/cancel. It cancels the runs of a batch.
func (a *api) CancelTestBatch(ctx context.Context, params oas.CancelTestBatchParams) (*oas.TestCancelledReply, error) {
	return cancelled(a.cfg.Tests.CancelBatch(ctx, httpapi.Org(ctx), params.ID))
}

// CancelTestSet serves POST /v1/agent-testing/simulation-sets/{id}/cancel. It cancels the runs of a simulation set.
func (a *api) CancelTestSet(ctx context.Context, params oas.CancelTestSetParams) (*oas.TestCancelledReply, error) {
	return cancelled(a.cfg.Tests.CancelSet(ctx, httpapi.Org(ctx), params.ID))
}

func cancelled(err error) (*oas.TestCancelledReply, error) {
	if err != nil {
		return nil, err
	}
	return &oas.TestCancelledReply{Data: oas.TestCancelled{Cancelled: true}}, nil
}

// budgetOf translates the budget in a body. A body without a budget means no limit.
func budgetOf(b oas.OptTestBudget) engine.Limit {
	cost, _ := price.MoneyOf(b.Value.Cost.Value) // the contract limits the cost
	return engine.Limit{Tokens: b.Value.Tokens.Value, Cost: cost}
}

func budgetRecord(l engine.Limit) oas.NilTestBudget {
	return oas.NilTestBudget{Null: l == (engine.Limit{}), Value: oas.TestBudget{
		Tokens: oas.OptInt{Value: l.Tokens, Set: l.Tokens > 0}, Cost: oas.OptFloat64{Value: l.Cost.Amount(), Set: l.Cost > 0},
	}}
}

// costRecord returns the cost of calls of models, or null if the price of one of them is unknown.
func costRecord(s engine.Spend) oas.NilFloat64 {
	cost, known := s.Price()
	return oas.NilFloat64{Value: cost.Amount(), Null: !known}
}

func concurrencyRecord(n int) oas.NilTestConcurrency {
	return oas.NilTestConcurrency{Value: oas.TestConcurrency(n), Null: n == 0}
}

func stopRecord(b group.Batch) oas.NilTestStopReason {
	return oas.NilTestStopReason{Value: oas.TestStopReason(b.Reason), Null: b.Reason == ""}
}
