package chat

import "encoding/json"

// These types parse members of responses whose types differ among services.

// Arguments are the arguments of a tool call, or a piece of them: JSON in a string, or the value itself. Null is an empty text.
type Arguments string

// UnmarshalJSON never fails.
func (a *Arguments) UnmarshalJSON(raw []byte) error {
	var text string // stays empty for null
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	*a = Arguments(text)
	return nil
}

// Word is a code or a name: a string, or a number as a string. Anything else is empty.
type Word string

// UnmarshalJSON never fails.
func (w *Word) UnmarshalJSON(raw []byte) error {
	var text string
	var number json.Number
	if json.Unmarshal(raw, &text) != nil && json.Unmarshal(raw, &number) == nil {
		text = number.String()
	}
	*w = Word(text)
	return nil
}

// Present reports whether a member has a value other than null.
func Present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// mostTokens is the maximum token count that a usage may report. It is more than any request needs.
const mostTokens = 1_000_000_000

// Tokens returns a token count of a service, limited to between 0 and mostTokens.
func Tokens(n int) int { return min(max(n, 0), mostTokens) }
