package tool

import (
	"encoding/json"
	"fmt"

	"github.com/callwright/callwright"
)

// Check checks tools before they are stored, and returns the first error: the tools together exceed the given number of bytes, NewSet
// fails, or a URL is forbidden. If urls is nil, it returns CodeUnavailable for any tool. Fields begin with tools, for example
// "tools[1].url".
func Check(raws []json.RawMessage, most int, urls callwright.URLs) error {
	size := 0
	for _, raw := range raws {
		size += len(raw)
	}
	if size > most {
		return callwright.Invalid("tools", "must have at most %d bytes together", most)
	}
	set, err := NewSet(raws)
	if err != nil {
		return err
	}
	for i, url := range set.URLs() {
		field := fmt.Sprintf("tools[%d].url", i)
		if urls == nil {
			return callwright.InField(field, callwright.Errorf(callwright.CodeUnavailable,
				"this server sends no requests to other systems"))
		}
		if err := urls.CheckURL(url); err != nil {
			return callwright.InField(field, err)
		}
	}
	return nil
}
