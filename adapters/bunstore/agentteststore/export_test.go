package agentteststore

import (
	"encoding/json"

	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/tornado"
)

// Documents returns the JSON that the store seals for a scenario, a run, a group and a session, as members of one object.
func Documents(sc scenario.Scenario, r run.Run, b group.Batch, n tornado.Session) ([]byte, error) {
	return json.MarshalIndent(map[string]any{
		"scenario": sc, "outcome": newOutcomeJSON(*r.Outcome), "result": r.Result,
		"batch":   batchJSON{b.Scenarios, b.Webhook, b.Over, b.Flakes, b.Statistics},
		"request": requestJSON{n.Scenarios, n.Limits}, "progress": progressJSON{n.Progress, n.Usage},
	}, "", "  ")
}

// Upgraded exports upgraded for tests.
var Upgraded = upgraded
