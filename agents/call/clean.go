package call

import (
	"maps"
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/pathway"
)

// writable is a text as every database takes it: what peers and models say need not be.
func writable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
}

// writableLog is a log with such texts only.
func writableLog(l pathway.Log) pathway.Log {
	l.Heard, l.Said = writable(l.Heard), writable(l.Said)
	l.Entries = slices.Clone(l.Entries)
	for i := range l.Entries {
		e := &l.Entries[i]
		e.Text = writable(e.Text)
		e.Variables = writableMap(e.Variables)
		if e.Request != nil {
			r := *e.Request
			r.Name, r.URL, r.Error, r.Variables = writable(r.Name), writable(r.URL), writable(r.Error), writableMap(r.Variables)
			e.Request = &r
		}
	}
	return l
}

// writableMap is variables with such texts only; nil for nil.
func writableMap(variables map[string]any) map[string]any {
	clean := maps.Clone(variables)
	clear(clean)
	for name, value := range variables {
		clean[writable(name)] = writableValue(value)
	}
	return clean
}

func writableValue(value any) any {
	switch value := value.(type) {
	case string:
		return writable(value)
	case map[string]any:
		return writableMap(value)
	case []any:
		clean := make([]any, len(value))
		for i, v := range value {
			clean[i] = writableValue(v)
		}
		return clean
	default:
		return value
	}
}
