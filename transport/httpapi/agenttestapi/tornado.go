package agenttestapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/pathwaywire"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/agenttestoas"
)

// Maximum lengths of a session's texts, in bytes.
const (
	maxExcerpt     = 500
	maxDescription = 4000
	maxWhy         = 1000
)

// StartTornado serves POST /v1/agent-testing/tornado/start. It starts a session.
func (a *api) StartTornado(
	ctx context.Context, req *oas.TornadoStart, _ oas.StartTornadoParams,
) (*oas.TornadoStartedReply, error) {
	s, err := a.cfg.Tornados.Start(ctx, httpapi.Org(ctx), tornado.Start{
		Pathway: wire.ID(req.PathwayID), Persona: wire.ID(req.PersonaID.Or("")), Scenarios: wire.IDs(req.ScenarioIds),
		HeldOut: wire.IDs(req.HeldOutScenarioIds), Version: wire.Ptr(req.VersionNumber.Get()), Iterations: req.MaxIterations.Or(0),
		Timeout: time.Duration(req.TimeoutMs.Or(0)) * time.Millisecond, Budget: budgetOf(req.Budget), Allow: req.AllowNodeIds,
		Deny: req.DenyNodeIds,
	})
	if err != nil {
		return nil, err
	}
	httpapi.LogID(ctx, "session_id", s.ID)
	return &oas.TornadoStartedReply{Data: oas.TornadoStarted{
		SessionID: s.ID, Status: oas.TornadoStatus(s.State), PathwayID: s.Pathway, MaxIterations: s.Most,
		TimeoutMs: int(s.Timeout.Milliseconds()), CreatedAt: s.CreatedAt,
	}}, nil
}

// GetActiveTornado serves GET /v1/agent-testing/tornado/active. It returns the newest running session of a pathway, a persona or both.
func (a *api) GetActiveTornado(ctx context.Context, params oas.GetActiveTornadoParams) (*oas.TornadoActiveReply, error) {
	s, err := a.cfg.Tornados.Active(ctx, httpapi.Org(ctx), params.PathwayID.Or(""), params.PersonaID.Or(""))
	if err != nil {
		return nil, err
	}
	return &oas.TornadoActiveReply{Data: oas.TornadoActive{
		SessionID: s.ID, Status: oas.TornadoStatus(s.State), PathwayID: s.Pathway, PersonaID: wire.NilText(s.Persona),
		CurrentIteration: s.Current(), MaxIterations: s.Most, TotalScenarios: len(s.Scenarios),
		PassedScenarios: len(s.Passed), FailedScenarios: len(s.Failed), CreatedAt: s.CreatedAt,
	}}, nil
}

// ListTornados serves GET /v1/agent-testing/tornado. It returns a page of sessions.
func (a *api) ListTornados(ctx context.Context, params oas.ListTornadosParams) (*oas.TornadoListReply, error) {
	after, err := callwright.ParseCursor(params.Cursor.Or(""))
	if err != nil {
		return nil, err
	}
	f := tornado.Filter{
		Pathway: params.PathwayID.Or(""), Persona: params.PersonaID.Or(""), After: after, Limit: params.Limit.Or(0),
	}
	if status, ok := params.Status.Get(); ok {
		f.States = []tornado.State{tornado.State(status)}
	}
	page, err := a.cfg.Tornados.List(ctx, httpapi.Org(ctx), f)
	if err != nil {
		return nil, err
	}
	answer := oas.TornadoPage{Sessions: make([]oas.TornadoSummary, len(page.Items)), NextCursor: wire.NilText(page.Next.Cursor())}
	for i, s := range page.Items {
		answer.Sessions[i] = tornadoSummary(s)
	}
	return &oas.TornadoListReply{Data: answer}, nil
}

// GetTornadoStatus serves GET /v1/agent-testing/tornado/{id}/status. It returns a session with its iterations.
func (a *api) GetTornadoStatus(ctx context.Context, params oas.GetTornadoStatusParams) (*oas.TornadoSessionReply, error) {
	s, err := a.cfg.Tornados.Get(ctx, httpapi.Org(ctx), params.ID)
	if err != nil {
		return nil, err
	}
	return &oas.TornadoSessionReply{Data: tornadoRecord(s)}, nil
}

// CancelTornado serves POST /v1/agent-testing/tornado/{id}/cancel. It requests the end of a session.
func (a *api) CancelTornado(ctx context.Context, params oas.CancelTornadoParams) (*oas.TornadoCancelledReply, error) {
	if err := a.cfg.Tornados.Cancel(ctx, httpapi.Org(ctx), params.ID); err != nil {
		return nil, err
	}
	return &oas.TornadoCancelledReply{Data: oas.TornadoCancelled{Cancelled: true}}, nil
}

// StreamTornado serves GET /v1/agent-testing/tornado/{id}/events. It streams the progress of a session.
func (a *api) StreamTornado(ctx context.Context, params oas.StreamTornadoParams, w http.ResponseWriter) error {
	f, err := a.cfg.Tornados.Watch(ctx, httpapi.Org(ctx), params.ID, params.LastEventID.Or(0))
	return watch(ctx, w, f, err, func(s tornado.Session) encoder { return new(tornadoSummary(s)) })
}

func tornadoSummary(s tornado.Session) oas.TornadoSummary {
	return oas.TornadoSummary{
		SessionID: s.ID, Status: oas.TornadoStatus(s.State), Phase: phaseRecord(s), StopReason: stopReasonRecord(s),
		PathwayID: s.Pathway, PersonaID: wire.NilText(s.Persona), CurrentIteration: s.Current(), MaxIterations: s.Most,
		TotalScenarios: len(s.Scenarios), PassedScenarios: len(s.Passed), FailedScenarios: len(s.Failed),
		UnfixableCount: len(s.Unfixable), BaseVersion: s.Base, ForkedVersion: wire.NilInt(s.Fork()), CreatedAt: s.CreatedAt,
		CompletedAt: nilTime(s.EndedAt),
	}
}

// tornadoRecord translates a session with its iterations.
func tornadoRecord(s tornado.Session) oas.TornadoSession {
	record := oas.TornadoSession{
		SessionID: s.ID, Status: oas.TornadoStatus(s.State), StopReason: stopReasonRecord(s),
		Detail: wire.NilText(callwright.Clip(s.Detail, maxWhy)), Phase: phaseRecord(s), PathwayID: s.Pathway,
		PersonaID: wire.NilText(s.Persona), CurrentIteration: s.Current(), MaxIterations: s.Most, TotalScenarios: len(s.Scenarios),
		PassedScenarios: len(s.Passed), FailedScenarios: len(s.Failed), UnfixableCount: len(s.Unfixable),
		UnfixableIds: wire.Texts[string](s.Unfixable), Iterations: make([]oas.TornadoIteration, len(s.Iterations)),
		ElapsedMs: int(s.Duration(time.Now()).Milliseconds()), TimeoutMs: int(s.Timeout.Milliseconds()),
		BaseVersion: wire.NilInt(s.Base), ForkedVersion: wire.NilInt(s.Fork()), BaseMoved: s.BaseMoved,
		ScenarioIds: make([]string, len(s.Scenarios)), HeldOutScenarioIds: []string{},
		AllowNodeIds: wire.Texts[string](s.Limits.Allow), DenyNodeIds: wire.Texts[string](s.Limits.Deny),
		Usage: tornadoUsage(s.Usage), Cost: costRecord(s.Usage.Spend), Budget: budgetRecord(s.Budget), CreatedAt: s.CreatedAt,
		CompletedAt: nilTime(s.EndedAt),
	}
	for i, sc := range s.Scenarios {
		if record.ScenarioIds[i] = sc.ID; sc.HeldOut {
			record.HeldOutScenarioIds = append(record.HeldOutScenarioIds, sc.ID)
		}
	}
	for i, it := range s.Iterations {
		record.Iterations[i] = iterationRecord(s, it)
	}
	return record
}

func iterationRecord(s tornado.Session, it tornado.Iteration) oas.TornadoIteration {
	record := oas.TornadoIteration{
		Iteration: it.Number, BatchIds: s.Batches(it), BatchID: oas.NilString{Null: true}, StartedAt: it.Started,
		CompletedAt: nilTime(it.Completed), PassedIds: wire.Texts[string](it.Passed), FailedIds: wire.Texts[string](it.Failed),
		ErrorIds:          wire.Texts[string](it.Errors),
		NewlyUnfixableIds: wire.Texts[string](it.Unfixable), FixPlan: oas.NilTornadoFixPlan{Null: true},
		Changes: oas.NilTornadoChanges{Null: true}, PromptExcerpt: oas.NilString{Null: true}, VersionNumber: wire.NilInt(it.Version),
		Outcome:       oas.NilTornadoIterationOutcome{Value: oas.TornadoIterationOutcome(it.Outcome), Null: it.Outcome == ""},
		OutcomeReason: wire.NilText(callwright.Clip(it.Reason, maxWhy)),
	}
	if len(record.BatchIds) > 0 {
		record.BatchID.SetTo(record.BatchIds[0])
	}
	if it.Plan != nil {
		record.FixPlan.SetTo(planRecord(*it.Plan))
		record.PromptExcerpt = wire.NilText(callwright.Clip(it.Plan.Text(), maxExcerpt))
	}
	if it.Changes != nil {
		record.Changes.SetTo(oas.TornadoChanges{
			Against: s.Parent(it.Number), Nodes: differences(it.Changes.Nodes), Edges: differences(it.Changes.Edges),
			Reordered: it.Changes.Reordered,
		})
	}
	return record
}

// planRecord translates a plan. Its fixes are in the order of their priority.
func planRecord(p tornado.Plan) oas.TornadoFixPlan {
	record := oas.TornadoFixPlan{Fixes: make([]oas.TornadoFix, len(p.Fixes)), PriorityOrder: make([]string, len(p.Fixes))}
	for i, f := range p.Fixes {
		record.Fixes[i] = oas.TornadoFix{
			ID: cmp.Or(f.ID, fmt.Sprintf("fix-%d", i+1)), TargetNode: f.Node,
			Description: callwright.Clip(f.Description, maxDescription), Type: oas.TestFixKind(f.Kind),
		}
		record.PriorityOrder[i] = record.Fixes[i].ID
	}
	return record
}

func differences(list []graph.Difference) []oas.PathwayDifference {
	return pathwaywire.Differences(list,
		func(id, name wire.Nil[string], kind graph.DifferenceKind, members []oas.PathwayMemberDifference) oas.PathwayDifference {
			return oas.PathwayDifference{ID: id, Name: name, Kind: oas.PathwayDifferenceKind(kind), Members: members}
		},
		func(path string, before, after wire.Nil[string]) oas.PathwayMemberDifference {
			return oas.PathwayMemberDifference{Path: path, Before: before, After: after}
		})
}

// tornadoUsage returns the tokens of each role in a session's runs, of the analyzer and of the fixer. It omits roles without tokens.
func tornadoUsage(u tornado.Usage) []oas.TestUsage {
	records := usageRecords(u.Runs)
	for _, r := range []oas.TestUsage{
		usageRecord(oas.TestUsageRoleAnalyzer, u.Analyst), usageRecord(oas.TestUsageRoleFixer, u.Fixer),
	} {
		if r.InputTokens+r.OutputTokens > 0 {
			records = append(records, r)
		}
	}
	return records
}

// phaseRecord returns the phase of a session, or null if the session has ended or has no phase.
func phaseRecord(s tornado.Session) oas.NilTornadoPhase {
	return oas.NilTornadoPhase{Value: oas.TornadoPhase(s.Phase), Null: s.State.Ended() || s.Phase == ""}
}

func stopReasonRecord(s tornado.Session) oas.NilTornadoStopReason {
	return oas.NilTornadoStopReason{Value: oas.TornadoStopReason(s.Stop), Null: s.Stop == ""}
}
