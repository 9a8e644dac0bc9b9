package pathwaywire

import (
	"encoding/json"

	"github.com/callwright/callwright/agents/pathway"
)

// Selector translates a generated selector of a version: a number, or the name of an environment.
func Selector(given json.Marshaler) (pathway.Selector, error) {
	var s pathway.Selector
	text, err := given.MarshalJSON()
	if err != nil {
		return s, err
	}
	if json.Unmarshal(text, &s.Number) == nil {
		return s, nil
	}
	return s, json.Unmarshal(text, &s.Environment)
}
