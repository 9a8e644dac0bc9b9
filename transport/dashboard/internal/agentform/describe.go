package agentform

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Describe returns the label of the field with the name of a setting in the API, and the setting's value in plain words. The value has the
// form of the API; nil becomes "–". The label of a setting without a field is its name.
func Describe(name string, value any) (label, text string) {
	f := fieldOf(name)
	switch v := value.(type) {
	case nil:
		text = "–"
	case bool:
		text = map[bool]string{false: "No", true: "Yes"}[v]
	case []string:
		text = strings.Join(v, ", ")
	default:
		text = fmt.Sprint(v)
		if raw, err := json.Marshal(v); err == nil && (raw[0] == '[' || raw[0] == '{') {
			text = string(raw)
		}
	}
	for _, o := range f.Options {
		if o.Value == text {
			text = o.Text
		}
	}
	return f.Label, text
}

// fieldOf returns the field of a setting, or a Field with only a label for a setting without a field.
func fieldOf(name string) Field {
	for _, g := range groups {
		for _, s := range g.settings {
			if s.Name == name {
				return s.Field
			}
		}
	}
	for _, s := range generalSettings {
		if s.Name == name {
			return s.Field
		}
	}
	return Field{Label: name}
}
