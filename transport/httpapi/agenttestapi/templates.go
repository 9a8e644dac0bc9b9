package agenttestapi

import (
	"context"

	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/templates"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/agenttestoas"
)

// ListTestTemplates serves GET /v1/agent-testing/templates. It returns the built-in templates, optionally of one category.
func (a *api) ListTestTemplates(_ context.Context, params oas.ListTestTemplatesParams) (*oas.TestTemplateListReply, error) {
	answer := &oas.TestTemplateListReply{Data: []oas.TestTemplate{}}
	for _, t := range templates.All() {
		if only, ok := params.Category.Get(); ok && scenario.Category(only) != t.Category {
			continue
		}
		assertions, err := records[oas.TestAssertion](t.Assertions)
		if err != nil {
			return nil, err
		}
		answer.Data = append(answer.Data, oas.TestTemplate{
			ID: t.ID, Name: t.Name, Description: t.Description, Category: oas.TestCategory(t.Category),
			TesterPersonaPrompt: t.CallerPrompt, TesterPersonaName: t.CallerName, MaxTurns: t.MaxTurns, Assertions: assertions,
		})
	}
	return answer, nil
}

// CloneTestTemplate serves POST /v1/agent-testing/templates/{id}/clone. It creates a scenario from a template.
func (a *api) CloneTestTemplate(
	ctx context.Context, req *oas.TestTemplateClone, params oas.CloneTestTemplateParams,
) (*oas.TestScenarioCreatedReply, error) {
	change, err := decoded(req, req.RequestData, scenario.DecodePatch)
	if err != nil {
		return nil, err
	}
	sc, err := a.cfg.Tests.CloneTemplate(ctx, httpapi.Org(ctx), params.ID, agenttest.Clone{
		Pathway: wire.ID(req.PathwayID.Or("")), Persona: wire.ID(req.PersonaID.Or("")), Change: change,
	})
	httpapi.LogID(ctx, "scenario_id", sc.ID)
	if err != nil {
		return nil, err
	}
	record, err := scenarioRecord(sc)
	return &oas.TestScenarioCreatedReply{Data: oas.TestScenarioCreated{Scenario: record}}, err
}

// GenerateTestScenario serves POST /v1/agent-testing/scenarios/generate-from-call. It drafts a scenario from a call, without storing it.
func (a *api) GenerateTestScenario(ctx context.Context, req *oas.TestScenarioFromCall) (*oas.TestScenarioDraftReply, error) {
	sc, err := a.cfg.Tests.DraftScenario(ctx, httpapi.Org(ctx), agenttest.DraftRequest{
		Call: wire.ID(req.CallID), Pathway: wire.ID(req.PathwayID.Or("")), Persona: wire.ID(req.PersonaID.Or("")),
	})
	if err != nil {
		return nil, err
	}
	data, err := wire.Raw(sc.RequestData)
	if err != nil {
		return nil, err
	}
	assertions, err := records[oas.TestAssertion](sc.Assertions)
	if err != nil {
		return nil, err
	}
	messages, err := records[oas.TestInputMessage](sc.Messages)
	if err != nil {
		return nil, err
	}
	draft := oas.TestScenarioDraft{
		Name: sc.Name, Description: sc.Description, Category: oas.TestCategory(sc.Category), TesterPersonaPrompt: sc.CallerPrompt,
		TesterPersonaName: sc.CallerName, PathwayID: wire.NilText(sc.Pathway), PersonaID: wire.NilText(sc.Persona), RequestData: data,
		Assertions: assertions, InputMessages: messages, MaxTurns: oas.NewOptInt(sc.MaxTurns),
		ScenarioType: oas.NewOptTestScenarioType(oas.TestScenarioType(sc.Kind)), Metadata: oas.NewOptMetadata(oas.Metadata{}),
	}
	if err := draft.Metadata.Value.UnmarshalJSON(sc.Metadata); err != nil {
		return nil, err
	}
	return &oas.TestScenarioDraftReply{Data: draft}, nil
}
