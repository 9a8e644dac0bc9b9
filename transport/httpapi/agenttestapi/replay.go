package agenttestapi

import (
	"context"

	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/agenttestoas"
)

// ReplayTestRun serves POST /v1/agent-testing/runs/{id}/replay. It starts a chat with the pathway, repeats the caller's lines of a run, and
// reports where the chat diverges from the run.
func (a *api) ReplayTestRun(ctx context.Context, params oas.ReplayTestRunParams) (*oas.TestReplayReply, error) {
	r, err := a.cfg.Tests.ReplayRun(ctx, httpapi.Org(ctx), params.ID)
	if err != nil {
		return nil, err
	}
	httpapi.LogID(ctx, "chat_id", r.Chat.ID)
	return &oas.TestReplayReply{Data: oas.TestReplay{
		ChatID: r.Chat.ID, PathwayID: r.Chat.Pathway, PathwayVersion: r.Chat.Number, Completed: r.Chat.Completed,
		TurnsReplayed: r.Said, TurnCount: r.Lines, DivergedAt: wire.NilPtr(r.Diverged()),
		NodeDivergence: divergence(r.Nodes), WordsDivergence: divergence(r.Words),
	}}, nil
}

func divergence(d *agenttest.Divergence) oas.NilTestDivergence {
	if d == nil {
		return oas.NilTestDivergence{Null: true}
	}
	return oas.NewNilTestDivergence(oas.TestDivergence{Turn: d.Turn, Expected: d.Expected, Actual: d.Actual})
}
