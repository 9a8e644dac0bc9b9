package agentteststore

import (
	"encoding/json"

	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/scenario"
)

// Documents returns what is sealed of a scenario, of a run and of a group.
func Documents(sc scenario.Scenario, r agenttest.Run, b agenttest.Batch) ([]byte, error) {
	return json.MarshalIndent(map[string]any{
		"scenario": newScenarioJSON(sc), "outcome": newOutcomeJSON(*r.Outcome), "result": r.Result,
		"batch": batchJSON{b.Scenarios, b.Webhook, b.Over, b.Flakes, b.Statistics},
	}, "", "  ")
}
