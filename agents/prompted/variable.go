package prompted

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Fill puts variables in the place of {{name}} in a text. Blanks inside the braces don't count; a dotted name such as
// {{caller.name}} looks into objects. An unknown name becomes nothing, so that an agent never speaks braces; a value is
// data: what looks like a variable in it stays as it is.
func Fill(text string, variables map[string]any) string {
	var b strings.Builder
	for {
		before, rest, open := strings.Cut(text, "{{")
		name, after, closed := strings.Cut(rest, "}}")
		b.WriteString(before)
		if !open {
			return b.String()
		}
		if !closed {
			b.WriteString("{{" + rest)
			return b.String()
		}
		b.WriteString(lookUp(strings.TrimSpace(name), variables))
		text = after
	}
}

// lookUp finds a variable by its whole name, then part by part.
func lookUp(name string, variables map[string]any) string {
	if v, ok := variables[name]; ok {
		return spoken(v)
	}
	first, rest, dotted := strings.Cut(name, ".")
	inner, ok := variables[first].(map[string]any)
	if !dotted || !ok {
		return ""
	}
	return lookUp(rest, inner)
}

// spoken is a value of JSON as text.
func spoken(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case map[string]any, []any:
		text, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(text)
	default:
		return fmt.Sprint(v)
	}
}
