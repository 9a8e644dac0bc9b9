package contracttest

import (
	"fmt"
	"strings"
	"time"
)

// maxNesting limits the depth of values whose schemas are recursive.
const maxNesting = 6

func pick[T any](g *Generator, all []T) T { return all[g.rand.IntN(len(all))] }

// named creates a value for a parameter or a member. In three of four cases it chooses a known value, if there is one.
func (g *Generator) named(in, name string, schema object) any {
	if known := g.known(g.path, g.operation, in, name); len(known) > 0 && g.rand.IntN(4) > 0 {
		return pick(g, known)
	}
	return g.value(schema, 0)
}

// value creates a random value for a schema. The result may violate the schema, because the function ignores most patterns and all but the
// first schema of allOf.
func (g *Generator) value(schema object, depth int) any {
	if all, ok := schema["allOf"].([]any); ok {
		return g.value(resolved(all[0]), depth)
	}
	if one, ok := schema["oneOf"].([]any); ok {
		return g.value(resolved(pick(g, one)), depth)
	}
	if value, ok := schema["const"]; ok {
		return value
	}
	if values, ok := schema["enum"].([]any); ok {
		return pick(g, values)
	}
	kind, _ := schema["type"].(string)
	if kinds, ok := schema["type"].([]any); ok {
		kind = fmt.Sprint(pick(g, kinds))
	}
	switch kind {
	case "object":
		return g.object(schema, depth)
	case "array":
		return g.list(schema, depth)
	case "string":
		return g.text(schema)
	case "integer":
		return int64(g.number(schema))
	case "number":
		return g.number(schema)
	case "boolean":
		return g.rand.IntN(2) == 0
	case "null":
		return nil
	}
	return pick(g, []any{"any", 7.0, true, nil, []any{}, object{"a": 1.5}}) // the schema accepts any type
}

func (g *Generator) object(schema object, depth int) object {
	made := object{}
	properties, _ := schema["properties"].(object)
	required := map[string]bool{}
	list, _ := schema["required"].([]any)
	for _, name := range list {
		required[fmt.Sprint(name)] = true
	}
	for _, name := range names(properties) {
		if !required[name] && (depth > maxNesting || g.rand.IntN(3) > 0) {
			continue
		}
		property := resolved(properties[name])
		if known := g.known(g.path, g.operation, "body", name); len(known) > 0 && g.rand.IntN(4) > 0 {
			made[name] = pick(g, known)
			if property["type"] == "array" {
				made[name] = []any{made[name]}
			}
			continue
		}
		made[name] = g.value(property, depth+1)
	}
	if more, ok := schema["additionalProperties"]; ok && more != false && depth <= maxNesting {
		of := resolved(more)
		for range g.rand.IntN(3) {
			made[pick(g, words)] = g.value(of, depth+1)
		}
	}
	return made
}

func (g *Generator) list(schema object, depth int) []any {
	least, most := bound(schema, "minItems", 0), bound(schema, "maxItems", 3)
	if depth > maxNesting {
		most = 0
	}
	made := []any{}
	for range int(least) + g.rand.IntN(int(max(0, min(most-least, 2)))+1) {
		made = append(made, g.value(resolved(schema["items"]), depth+1))
	}
	return made
}

// words are random texts. Some of them are valid or dangerous in certain members.
var words = []string{
	"name", "Ada", "A short sentence.", "+14155550123", "https://example.com/x", "sip:pbx.example.com:5061;transport=tls", "pbx.example.com",
	"{{name}}", "größer, 大きい, 👩‍👩‍👧", "PCMU", "$.a.b", "0", "tuesday", "X-Note", "' OR 1=1 --", "<b>&amp;", "%s%d%n", "../../etc/passwd", "\t tab",
}

func (g *Generator) text(schema object) string {
	switch {
	case schema["format"] == "date-time":
		return time.Unix(g.rand.Int64N(4e9), 0).UTC().Format(time.RFC3339)
	case schema["format"] == "date":
		return time.Unix(g.rand.Int64N(4e9), 0).UTC().Format(time.DateOnly)
	case schema["format"] == "byte":
		return "QUJD"
	case schema["pattern"] == "^https?://":
		return "https://example.com/" + pick(g, []string{"", "a?b=c", "{{name}}"})
	case schema["pattern"] != nil:
		return ""
	}
	least, most := int(bound(schema, "minLength", 0)), int(bound(schema, "maxLength", 200))
	made := []rune(pick(g, words))
	switch g.rand.IntN(8) {
	case 0: // the minimum length, in characters of four bytes
		made = []rune(strings.Repeat("𝛼", least))
	case 1: // the maximum length
		made = []rune(strings.Repeat("𝛼", min(most, 5000)))
	}
	for len(made) < least {
		made = append(made, 'x')
	}
	return string(made[:min(len(made), most)])
}

func (g *Generator) number(schema object) float64 {
	least, most := bound(schema, "minimum", -1000), bound(schema, "maximum", 1000)
	switch g.rand.IntN(4) {
	case 0:
		return least
	case 1:
		return most
	}
	return least + float64(int64(g.rand.Float64()*(most-least)))
}

// bound returns the number that a schema sets for name, such as "maxLength". If the schema sets none, it returns the argument otherwise.
func bound(schema object, name string, otherwise float64) float64 {
	switch n := schema[name].(type) {
	case int:
		return float64(n)
	case int64:
		return float64(n)
	case uint64:
		return float64(n)
	case float64:
		return n
	}
	return otherwise
}

// oddTexts are values of parameters that violate most schemas.
var oddTexts = []string{
	"", " ", "null", "true", "-1", "0", "1e400", "9223372036854775808", "NaN", "2026-02-30T25:00:00Z", "0000-01-01", "a\x00b", "a\xffb", "%00", "/", "..", "{}", "[]",
	"\r\nX-Injected: 1", strings.Repeat("x", 10_000), "𝛼", "'; DROP TABLE calls; --", "\u202e", "+", "*", "\\",
}

// oddValues returns values that violate most schemas.
func oddValues() []any {
	deep := any("end")
	for range 60 {
		deep = []any{deep}
	}
	wide := make([]any, 2000)
	return []any{
		nil, true, false, 0, -1, 1e300, -1e300, 9.3e18, int64(1) << 53, 0.5, "", " ", "\u0001\u001f", strings.Repeat("𝛼", 30_000), "{{", "{{a}}{{b", []any{}, []any{nil}, object{},
		object{"": ""}, object{"a": object{"b": nil}}, deep, wide, "2026-02-30", "http://[::1", "\ufeff", "\u202etxt",
	}
}

// changed changes one random part of a value, and returns the value with a description of the change.
func (g *Generator) changed(value any) (any, string) {
	members, isObject := value.(object)
	list, isList := value.([]any)
	switch {
	case isObject && len(members) > 0 && g.rand.IntN(8) > 0:
		name := pick(g, names(members))
		how := g.rand.IntN(6)
		switch {
		case how == 0:
			delete(members, name)
			return members, "without " + name
		case how == 1:
			members["colour"] = "red"
			return members, "with colour"
		}
		var where string
		members[name], where = g.changed(members[name])
		return members, name + "." + where
	case isList && len(list) > 0 && g.rand.IntN(8) > 0:
		i := g.rand.IntN(len(list))
		var where string
		list[i], where = g.changed(list[i])
		return list, fmt.Sprintf("[%d].%s", i, where)
	}
	odd := pick(g, oddValues())
	return odd, fmt.Sprintf(" is %.40q", fmt.Sprint(odd))
}

// broken returns a body that is invalid JSON or that the server must reject, and a description of the change.
func (g *Generator) broken(body string) (text, change string) {
	switch g.rand.IntN(5) {
	case 0:
		return body[:len(body)/2], "half of the body"
	case 1:
		return "", "no body"
	case 2:
		return strings.Replace(body, "\"", "\"\\u0000", 1), "with NUL"
	case 3:
		return strings.Replace(body, "\"", "\"\xff", 1), "not UTF-8"
	}
	return strings.Repeat("[", 100_000), "nested deep"
}
