package agenttestapi

import (
	"context"
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/agenttestoas"
)

// CreateTestScenario stores a new scenario.
func (a *api) CreateTestScenario(ctx context.Context, req *oas.TestScenarioCreate) (*oas.TestScenarioReply, error) {
	sc := scenario.Scenario{
		Pathway: wire.ID(req.PathwayID.Or("")), Persona: wire.ID(req.PersonaID.Or("")),
		Name: req.Name, Description: req.Description.Or(""), Category: scenario.Category(req.Category.Or("")),
		Kind: scenario.Kind(req.ScenarioType.Or("")), CallerPrompt: req.TesterPersonaPrompt.Or(""),
		CallerName: req.TesterPersonaName.Or(""), Instructions: req.AdvancedInstructions.Or(""), MaxTurns: req.MaxTurns.Or(0),
		StartNode: req.StartNodeID.Or(""), ScoreTone: req.ServiceToneEnabled.Or(false),
		Required: req.IsRequiredForPromotion.Or(false), Enabled: req.Enabled.Or(true), Messages: messagesOf(req.InputMessages),
	}
	if score, ok := req.MinScore.Get(); ok {
		sc.MinScore = &score
	}
	var err error
	if sc.RequestData, err = wire.Values("request_data", req.RequestData.Value); err != nil {
		return nil, err
	}
	if sc.Metadata, err = metadataOf(req.Metadata); err != nil {
		return nil, err
	}
	if sc.Webhooks, err = mocksOf(req.WebhookMocks); err != nil {
		return nil, err
	}
	if sc.Assertions, err = assertionsOf(req.Assertions); err != nil {
		return nil, err
	}
	sc, err = a.cfg.Tests.CreateScenario(ctx, httpapi.Org(ctx), sc)
	httpapi.LogID(ctx, "scenario_id", sc.ID)
	return scenarioReply(sc, err)
}

// defaultPage is the default number of scenarios in a page.
const defaultPage = 500

// ListTestScenarios returns a page of scenarios.
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

// GetTestScenario returns one scenario.
func (a *api) GetTestScenario(ctx context.Context, params oas.GetTestScenarioParams) (*oas.TestScenarioReply, error) {
	return scenarioReply(a.cfg.Tests.Scenario(ctx, httpapi.Org(ctx), params.ID))
}

// UpdateTestScenario changes the members of a scenario that are given.
func (a *api) UpdateTestScenario(
	ctx context.Context, req *oas.TestScenarioUpdate, params oas.UpdateTestScenarioParams,
) (*oas.TestScenarioReply, error) {
	p := scenario.Patch{
		Name: wire.Change(req.Name.Get()), Description: wire.Change(req.Description.Get()),
		Category: wire.Change(scenario.Category(req.Category.Value), req.Category.Set),
		Kind:     wire.Change(scenario.Kind(req.ScenarioType.Value), req.ScenarioType.Set),

		CallerPrompt: wire.Change(req.TesterPersonaPrompt.Get()), CallerName: wire.Change(req.TesterPersonaName.Get()),
		Instructions: wire.Change(req.AdvancedInstructions.Or(""), req.AdvancedInstructions.Set),
		Messages:     wire.Change(messagesOf(req.InputMessages), req.InputMessages != nil),
		MaxTurns:     wire.Change(req.MaxTurns.Get()), StartNode: wire.Change(req.StartNodeID.Or(""), req.StartNodeID.Set),
		ScoreTone: wire.Change(req.ServiceToneEnabled.Get()), Required: wire.Change(req.IsRequiredForPromotion.Get()),
		Enabled:  wire.Change(req.Enabled.Get()),
		MinScore: wire.PtrChange(wire.Ptr(req.MinScore.Get()), req.MinScore.Set),
	}
	data, err := wire.Values("request_data", req.RequestData.Value)
	if err != nil {
		return nil, err
	}
	metadata, err := metadataOf(req.Metadata)
	if err != nil {
		return nil, err
	}
	mocks, err := mocksOf(req.WebhookMocks)
	if err != nil {
		return nil, err
	}
	assertions, err := assertionsOf(req.Assertions)
	if err != nil {
		return nil, err
	}
	p.RequestData, p.Metadata = wire.Change(data, req.RequestData.Set), wire.Change(metadata, req.Metadata.Set)
	p.Webhooks, p.Assertions = wire.Change(mocks, req.WebhookMocks != nil), wire.Change(assertions, req.Assertions != nil)
	return scenarioReply(a.cfg.Tests.UpdateScenario(ctx, httpapi.Org(ctx), params.ID, p))
}

// DeleteTestScenario deletes a scenario.
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
		InputMessages: messageRecords(sc.Messages),
	}
	if len(sc.Metadata) > 0 {
		if err := record.Metadata.UnmarshalJSON(sc.Metadata); err != nil {
			return oas.TestScenario{}, err
		}
	}
	if record.WebhookMocks, err = mockRecords(sc.Webhooks); err != nil {
		return oas.TestScenario{}, err
	}
	record.Assertions, err = assertionRecords(sc.Assertions)
	return record, err
}

func messagesOf(messages []oas.TestInputMessage) []scenario.Message {
	out := make([]scenario.Message, len(messages))
	for i, m := range messages {
		out[i] = scenario.Message{Role: llm.RoleCaller, Text: m.Content, Node: m.NodeID.Or(""), Keyword: m.Keyword.Or("")}
		if m.Role == oas.TestSpeakerAssistant {
			out[i].Role = llm.RoleAgent
		}
	}
	return out
}

func messageRecords(messages []scenario.Message) []oas.TestInputMessage {
	records := make([]oas.TestInputMessage, len(messages))
	for i, m := range messages {
		records[i] = oas.TestInputMessage{
			Role: speakerOf(m.Role), Content: m.Text, NodeID: wire.OptText(m.Node), Keyword: wire.OptText(m.Keyword),
		}
	}
	return records
}

func speakerOf(r llm.Role) oas.TestSpeaker {
	if r == llm.RoleAgent {
		return oas.TestSpeakerAssistant
	}
	return oas.TestSpeakerUser
}

func metadataOf(m oas.OptMetadata) (json.RawMessage, error) {
	if len(m.Value) == 0 {
		return nil, nil
	}
	return m.Value.MarshalJSON()
}

func mocksOf(mocks []oas.TestWebhookMock) ([]scenario.WebhookMock, error) {
	out := make([]scenario.WebhookMock, len(mocks))
	for i, m := range mocks {
		out[i] = scenario.WebhookMock{
			Node: m.NodeID.Or(""), Method: string(m.Method.Or("")), URL: m.URL.Or(""), Status: m.Status.Or(0),
			Delay: time.Duration(m.DelayMs.Or(0)) * time.Millisecond, Fault: scenario.Fault(m.Fault.Or("")),
		}
		if body, ok := m.Body.Get(); ok {
			raw, err := body.MarshalJSON()
			if err != nil {
				return nil, err
			}
			out[i].Body = raw
		}
	}
	return out, nil
}

func mockRecords(mocks []scenario.WebhookMock) ([]oas.TestWebhookMock, error) {
	records := make([]oas.TestWebhookMock, len(mocks))
	for i, m := range mocks {
		records[i] = oas.TestWebhookMock{
			NodeID: wire.OptText(m.Node), URL: wire.OptText(m.URL),
			Method: oas.OptTestHTTPMethod{Value: oas.TestHTTPMethod(m.Method), Set: m.Method != ""},
			Status: oas.OptInt{Value: m.Status, Set: m.Status != 0},
			Fault:  oas.OptTestWebhookMockFault{Value: oas.TestWebhookMockFault(m.Fault), Set: m.Fault != scenario.NoFault},
		}
		if m.Delay > 0 {
			records[i].DelayMs.SetTo(int(m.Delay.Milliseconds()))
		}
		if len(m.Body) > 0 {
			var body oas.FreeObject
			if err := body.UnmarshalJSON(m.Body); err != nil {
				return nil, err
			}
			records[i].Body.SetTo(body)
		}
	}
	return records, nil
}

// assertion holds the members that the ten kinds of assertions share on the wire.
type assertion struct {
	ID       string          `json:"id,omitempty"`
	Type     assert.Type     `json:"type"`
	Name     string          `json:"name"`
	Config   json.RawMessage `json:"config"`
	Required *bool           `json:"is_required"`
	Weight   *float64        `json:"weight"`
	Order    *int            `json:"order"`
}

// assertionsOf translates assertions without their ids. One without an order has its place in the list.
func assertionsOf(records []oas.TestAssertion) ([]assert.Assertion, error) {
	out, err := draftsOf(records)
	for i := range out {
		out[i].ID = ""
	}
	return out, err
}

// draftsOf is assertionsOf with the ids that are given.
func draftsOf(records []oas.TestAssertion) ([]assert.Assertion, error) {
	out := make([]assert.Assertion, len(records))
	for i := range records {
		raw, err := records[i].MarshalJSON()
		if err != nil {
			return nil, err
		}
		var a assertion
		if err := json.Unmarshal(raw, &a); err != nil {
			return nil, err
		}
		out[i] = assert.Assertion{ID: a.ID, Type: a.Type, Name: a.Name, Config: a.Config, Required: true, Weight: 1, Order: i}
		callwright.Optional[bool]{Set: a.Required != nil, Value: a.Required}.Apply(&out[i].Required)
		callwright.Optional[float64]{Set: a.Weight != nil, Value: a.Weight}.Apply(&out[i].Weight)
		callwright.Optional[int]{Set: a.Order != nil, Value: a.Order}.Apply(&out[i].Order)
	}
	return out, nil
}

func assertionRecords(assertions []assert.Assertion) ([]oas.TestAssertion, error) {
	records := make([]oas.TestAssertion, len(assertions))
	for i, a := range assertions {
		raw, err := json.Marshal(assertion{
			ID: a.ID, Type: a.Type, Name: a.Name, Config: a.Config, Required: &a.Required, Weight: &a.Weight, Order: &a.Order,
		})
		if err != nil {
			return nil, err
		}
		if err := records[i].UnmarshalJSON(raw); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// nilTime returns null for the zero time.
func nilTime(t time.Time) wire.Nil[time.Time] { return wire.Nil[time.Time]{Value: t, Null: t.IsZero()} }
