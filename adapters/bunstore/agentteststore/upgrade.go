package agentteststore

import (
	"encoding/json"
	"strconv"
	"time"
)

// Earlier releases stored some members of scenarios, and of the items of their lists, under other names. The maps contain the old names and
// the names of the contract. Names that differ only in case are omitted, because decoding ignores case.
var (
	scenarioNames = map[string]string{
		"Org": "org_id", "Pathway": "pathway_id", "Persona": "persona_id", "Kind": "scenario_type", "CallerPrompt": "tester_persona_prompt",
		"CallerName": "tester_persona_name", "Instructions": "advanced_instructions", "Messages": "input_messages", "MaxTurns": "max_turns",
		"RequestData": "request_data", "StartNode": "start_node_id", "Webhooks": "webhook_mocks", "ScoreTone": "service_tone_enabled",
		"Required": "is_required_for_promotion", "MinScore": "min_score", "CreatedAt": "created_at", "UpdatedAt": "updated_at",
	}
	itemNames = map[string]map[string]string{
		"input_messages": {"Text": "content", "Node": "node_id"},
		"webhook_mocks":  {"Node": "node_id", "Delay": "delay_ms"},
		"Assertions":     {"Required": "is_required"},
	}
)

type object = map[string]json.RawMessage

// upgraded replaces the member names of earlier releases in the document of a scenario with the names of the contract, and converts delays
// from nanoseconds to milliseconds. It returns a document unchanged if it contains the names of the contract or is not JSON.
func upgraded(raw json.RawMessage) json.RawMessage {
	var sc object
	if json.Unmarshal(raw, &sc) != nil || sc["CallerPrompt"] == nil {
		return raw
	}
	rename(sc, scenarioNames)
	for list, names := range itemNames {
		var items []object
		if json.Unmarshal(sc[list], &items) != nil || items == nil {
			continue
		}
		for _, item := range items {
			rename(item, names)
			var delay time.Duration
			if json.Unmarshal(item["delay_ms"], &delay) == nil {
				item["delay_ms"] = strconv.AppendInt(nil, delay.Milliseconds(), 10)
			}
		}
		changed, err := json.Marshal(items)
		if err != nil {
			return raw
		}
		sc[list] = changed
	}
	out, err := json.Marshal(sc)
	if err != nil {
		return raw
	}
	return out
}

func rename(o object, names map[string]string) {
	for old, name := range names {
		if value, stored := o[old]; stored {
			delete(o, old)
			o[name] = value
		}
	}
}
