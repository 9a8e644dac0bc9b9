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

// arguments are the arguments of a tool call, or a piece of them: JSON in a string, or the value itself. Null is an empty text.
type arguments string

// UnmarshalJSON never fails.
func (a *arguments) UnmarshalJSON(raw []byte) error {
	var text string // stays empty for null
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	*a = arguments(text)
	return nil
}

// word is a code or a name: a string, or a number as a string. Anything else is empty.
type word string

// UnmarshalJSON never fails.
func (w *word) UnmarshalJSON(raw []byte) error {
	var text string
	var number json.Number
	if json.Unmarshal(raw, &text) != nil && json.Unmarshal(raw, &number) == nil {
		text = number.String()
	}
	*w = word(text)
	return nil
}
