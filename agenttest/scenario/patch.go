package scenario

import (
	"encoding/json"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/assert"
)

// Patch changes a scenario. A field that is not Set remains unchanged, and a cleared one is reset to its default.
type Patch struct {
	Name         callwright.Optional[string]
	Description  callwright.Optional[string]
	Category     callwright.Optional[Category]
	Kind         callwright.Optional[Kind]
	CallerPrompt callwright.Optional[string]
	CallerName   callwright.Optional[string]
	Instructions callwright.Optional[string]
	Messages     callwright.Optional[[]Message]
	MaxTurns     callwright.Optional[int]
	RequestData  callwright.Optional[map[string]any]
	StartNode    callwright.Optional[string]
	Webhooks     callwright.Optional[[]WebhookMock]
	ScoreTone    callwright.Optional[bool]
	Required     callwright.Optional[bool]
	Enabled      callwright.Optional[bool]
	MinScore     callwright.Optional[float64]
	Assertions   callwright.Optional[[]assert.Assertion] // replaces all assertions
	Metadata     callwright.Optional[json.RawMessage]

	Revision *int64 // Revision that the scenario must have; nil means any
}

// Apply returns the scenario with the changes. It does not check the result.
func (p Patch) Apply(s Scenario) Scenario {
	p.Name.Apply(&s.Name)
	p.Description.Apply(&s.Description)
	p.Category.Apply(&s.Category)
	p.Kind.Apply(&s.Kind)
	p.CallerPrompt.Apply(&s.CallerPrompt)
	p.CallerName.Apply(&s.CallerName)
	p.Instructions.Apply(&s.Instructions)
	p.Messages.Apply(&s.Messages)
	p.MaxTurns.Apply(&s.MaxTurns)
	p.RequestData.Apply(&s.RequestData)
	p.StartNode.Apply(&s.StartNode)
	p.Webhooks.Apply(&s.Webhooks)
	p.ScoreTone.Apply(&s.ScoreTone)
	p.Required.Apply(&s.Required)
	p.Enabled.Apply(&s.Enabled)
	if p.MinScore.Set {
		s.MinScore = p.MinScore.Value
	}
	p.Assertions.Apply(&s.Assertions)
	p.Metadata.Apply(&s.Metadata)
	return s
}
