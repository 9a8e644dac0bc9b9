package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/suite"
)

// concealed returns members with callwright.Redacted in place of likely credentials, and the places of the replaced values.
func concealed(members []suite.Member) (out []suite.Member, places []string) {
	out = slices.Clone(members)
	for i, m := range out {
		out[i].Value = conceal(m.Value, m.Name, false, &places)
	}
	return out, places
}

// conceal replaces likely credentials in the value at a place with callwright.Redacted, and appends the places of the replaced texts to
// places. If named is set, a name on the path to the value is a usual name of credentials, and conceal replaces every text that is not
// empty.
func conceal(v any, place string, named bool, places *[]string) any {
	switch v := v.(type) {
	case string:
		text := callwright.Redact(v)
		if named && v != "" {
			text = callwright.Redacted
		}
		if text != v {
			*places = append(*places, place)
		}
		return text
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = conceal(inner, fmt.Sprintf("%s[%d]", place, i), named, places)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out[name] = conceal(v[name], place+"."+name, named || callwright.NamesSecret(name), places)
		}
		return out
	default:
		return v
	}
}

// reveal returns a file's value in which the server's texts replace the texts with callwright.Redacted. The parameter there is the server's
// value, and shown is the result of conceal for it. A text that differs from the text in shown remains, and reveal appends its place to
// lost.
func reveal(file, there, shown any, place string, lost *[]string) any {
	switch v := file.(type) {
	case string:
		if !strings.Contains(v, callwright.Redacted) {
			return v
		}
		if shown == file {
			return there
		}
		*lost = append(*lost, place)
		return v
	case []any:
		out := make([]any, len(v))
		have, seen := listOf(there), listOf(shown)
		for i, inner := range v {
			out[i] = reveal(inner, at(have, i), at(seen, i), fmt.Sprintf("%s[%d]", place, i), lost)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		have, _ := there.(map[string]any)
		seen, _ := shown.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out[name] = reveal(v[name], have[name], seen[name], place+"."+name, lost)
		}
		return out
	default:
		return v
	}
}

func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}
