package openai

import (
	"encoding/json"
	"strings"
)

// These types parse members of responses whose types differ among services.

// content is the text of a message or of a piece of it: a string, null, or an array of parts, of which only the texts count.
type content string

// UnmarshalJSON never fails: it parses a value of another type as an empty text.
func (c *content) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*c = content(text)
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts)
	var all strings.Builder
	for _, p := range parts {
		if p.Type == "text" || p.Type == "output_text" {
			all.WriteString(p.Text)
		}
	}
	*c = content(all.String())
	return nil
}
