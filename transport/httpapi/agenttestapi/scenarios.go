package agenttestapi

import (
	"context"
	"encoding/json"
	"time"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/agenttestoas"
)

// CreateTestScenario serves POST /v1/agent-testing/scenarios. It creates a scenario.
func (a *api) CreateTestScenario(ctx context.Context, req *oas.TestScenarioCreate) (*oas.TestScenarioReply, error) {
	sc, err := decoded(req, req.RequestData, scenario.Decode)
	if err != nil {
		return nil, err
	}
	sc.Pathway, sc.Persona = wire.ID(sc.Pathway), wire.ID(sc.Persona)
	sc, err = a.cfg.Tests.CreateScenario(ctx, httpapi.Org(ctx), sc)
	httpapi.LogID(ctx, "scenario_id", sc.ID)
	return scenarioReply(sc, err)
}

// defaultPage is the default number of scenarios on a page.
const defaultPage = 500

// ListTestScenarios serves GET /v1/agent-testing/scenarios. It returns a page of scenarios.
func (a *api) ListTestScenarios(
	ctx context.Context, params oas.ListTestScenariosParams,
) (*oas.TestScenarioListReply, error) {
	page, err := a.cfg.Tests.ListScenarios(ctx, httpapi.Org(ctx), agenttest.ScenarioFilter{
		Pathway: params.PathwayID.Or(""), Persona: params.PersonaID.Or(""), Category: scenario.Category(params.Category.Or("")),
		Enabled: wire.Ptr(params.Enabled.Get()), Limit: params.Limit.Or(defaultPage),
	}, params.Offset.Or(0))
	if err != nil {
		return nil, err
	}
	answer := &oas.TestScenarioListReply{Data: make([]oas.TestScenario, len(page.Items))}
	for i, l := range page.Items {
		record, err := scenarioRecord(l.Scenario)
		if err != nil {
			return nil, err
		}
		record.MostRecentRun.SetToNull()
		if r := l.Recent; r != nil {
			record.MostRecentRun.SetTo(oas.TestRecentRun{
				ID: r.ID, Status: oas.TestRunStatus(r.State), Score: wire.NilPtr(r.Result.Score), CompletedAt: nilTime(r.EndedAt),
			})
		}
		answer.Data[i] = record
	}
	return answer, nil
}

// GetTestScenario serves GET /v1/agent-testing/scenarios/{id}. It returns a scenario.
func (a *api) GetTestScenario(ctx context.Context, params oas.GetTestScenarioParams) (*oas.TestScenarioReply, error) {
	return scenarioReply(a.cfg.Tests.Scenario(ctx, httpapi.Org(ctx), params.ID))
}

// UpdateTestScenario serves PUT /v1/agent-testing/scenarios/{id}. It changes only the given members of a scenario. Given assertions replace
// all assertions and receive new ids.
func (a *api) UpdateTestScenario(
	ctx context.Context, req *oas.TestScenarioUpdate, params oas.UpdateTestScenarioParams,
) (*oas.TestScenarioReply, error) {
	p, err := decoded(req, req.RequestData, scenario.DecodePatch)
	if err != nil {
		return nil, err
	}
	if p.Assertions.Set {
		for i := range *p.Assertions.Value {
			(*p.Assertions.Value)[i].ID = ""
		}
	}
	return scenarioReply(a.cfg.Tests.UpdateScenario(ctx, httpapi.Org(ctx), params.ID, p))
}

// DeleteTestScenario serves DELETE /v1/agent-testing/scenarios/{id}. It deletes a scenario and its runs, except the runs of groups that
// have not ended.
func (a *api) DeleteTestScenario(
	ctx context.Context, params oas.DeleteTestScenarioParams,
) (*oas.TestScenarioDeletedReply, error) {
	if err := a.cfg.Tests.DeleteScenario(ctx, httpapi.Org(ctx), params.ID); err != nil {
		return nil, err
	}
	return &oas.TestScenarioDeletedReply{Data: oas.TestScenarioDeleted{Deleted: true}}, nil
}

// scenarioReply returns the answer with one scenario, or err.
func scenarioReply(sc scenario.Scenario, err error) (*oas.TestScenarioReply, error) {
	if err != nil {
		return nil, err
	}
	record, err := scenarioRecord(sc)
	return &oas.TestScenarioReply{Data: record}, err
}

func scenarioRecord(sc scenario.Scenario) (oas.TestScenario, error) {
	data, err := wire.Raw(sc.RequestData)
	if err != nil {
		return oas.TestScenario{}, err
	}
	record := oas.TestScenario{
		ID: sc.ID, OrgID: string(sc.Org), PathwayID: wire.NilText(sc.Pathway), PersonaID: wire.NilText(sc.Persona),
		Name: sc.Name, Description: sc.Description, Category: oas.TestCategory(sc.Category),
		ScenarioType: oas.TestScenarioType(sc.Kind), TesterPersonaPrompt: sc.CallerPrompt, TesterPersonaName: sc.CallerName,
		MaxTurns: sc.MaxTurns, RequestData: data, StartNodeID: wire.NilText(sc.StartNode), ServiceToneEnabled: sc.ScoreTone,
		IsRequiredForPromotion: sc.Required, Enabled: sc.Enabled, AdvancedInstructions: wire.NilText(sc.Instructions),
		MinScore: wire.NilPtr(sc.MinScore), Metadata: oas.Metadata{}, CreatedAt: sc.CreatedAt, UpdatedAt: sc.UpdatedAt,
	}
	if record.InputMessages, err = records[oas.TestInputMessage](sc.Messages); err != nil {
		return oas.TestScenario{}, err
	}
	if len(sc.Metadata) > 0 {
		if err := record.Metadata.UnmarshalJSON(sc.Metadata); err != nil {
			return oas.TestScenario{}, err
		}
	}
	if record.WebhookMocks, err = records[oas.TestWebhookMock](sc.Webhooks); err != nil {
		return oas.TestScenario{}, err
	}
	record.Assertions, err = records[oas.TestAssertion](sc.Assertions)
	return record, err
}

// decoded translates the body of a scenario by means of the function decode. If a number in data is too large, the error names the number's
// member.
func decoded[T any](req json.Marshaler, data oas.OptRequestData, decode func([]byte) (T, error)) (T, error) {
	var none T
	if _, err := wire.Values("request_data", data.Value); err != nil {
		return none, err
	}
	raw, err := req.MarshalJSON()
	if err != nil {
		return none, err
	}
	return decode(raw)
}

// records converts a list to a list of a generated type with the same JSON.
func records[To, From any](list []From) (out []To, err error) {
	raw, err := json.Marshal(list)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	return out, err
}

func speakerOf(r llm.Role) oas.TestSpeaker {
	if r == llm.RoleAgent {
		return oas.TestSpeakerAssistant
	}
	return oas.TestSpeakerUser
}

// nilTime returns a time, or null for the zero time.
func nilTime(t time.Time) wire.Nil[time.Time] { return wire.Nil[time.Time]{Value: t, Null: t.IsZero()} }
