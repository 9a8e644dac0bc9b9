// Package template fills variables into texts, in place of {{name}}. A text is parsed once and rendered often.
package template

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Template is a parsed text with variables. It is immutable, and safe for concurrent use.
type Template struct {
	text  string
	parts []part
	names []string // result of Names
	rest  string   // the text after the last part
}

// part is a literal text and the name of the variable that follows it.
type part struct{ text, name string }

// Parse parses a text. Every text is valid: unclosed braces are literal text. White space around a name within the braces is ignored. A
// dotted name such as {{caller.name}} names a member of an object.
func Parse(text string) *Template {
	t := &Template{text: text, rest: text}
	for {
		before, inside, open := strings.Cut(t.rest, "{{")
		name, after, closed := strings.Cut(inside, "}}")
		if !open || !closed {
			return t
		}
		if t.parts == nil {
			t.parts = make([]part, 0, 1+strings.Count(after, "{{"))
		}
		name = strings.TrimSpace(name)
		t.parts = append(t.parts, part{text: before, name: name})
		if name != "" && len(t.names) < MaxNames && !slices.Contains(t.names, name) {
			t.names = append(t.names, name)
		}
		t.rest = after
	}
}

// Text returns the original text.
func (t *Template) Text() string { return t.text }

// MaxNames is the maximum number of variables that Names returns.
const MaxNames = 100

// Names returns the names of the first MaxNames variables of the text, without duplicates and in order.
func (t *Template) Names() []string { return slices.Clone(t.names) }

// Literals returns the texts before, between and after the variables. Their number exceeds the number of variables by one, and they may be
// empty.
func (t *Template) Literals() []string {
	literals := make([]string, 0, len(t.parts)+1)
	for _, p := range t.parts {
		literals = append(literals, p.text)
	}
	return append(literals, t.rest)
}

// Missing returns the Names that have no value in variables.
func (t *Template) Missing(variables map[string]any) []string {
	var missing []string
	for _, name := range t.names {
		if _, known := LookUp(name, variables); !known {
			missing = append(missing, name)
		}
	}
	return missing
}

// Render returns the text with its variables filled in, at most MaxValues bytes of values. An unknown variable is empty, so that an agent
// never speaks braces. Braces within values are not expanded.
func (t *Template) Render(variables map[string]any) string {
	text, _ := t.fill(variables, MaxValues, spoken)
	return text
}

func spoken(_, _ string, value any) string { return Spoken(value) }

// MaxValues is the maximum number of bytes that the values of variables add to one text. Beyond it, values are cut off. The limit matters
// for a text that repeats a long variable.
const MaxValues = 128 << 10

// RenderWith returns the text like Render, but limits the values to the given number of bytes and formats each value with write. before is
// the text rendered so far. The value of an unknown variable is nil.
func (t *Template) RenderWith(variables map[string]any, most int, write func(before string, value any) string) string {
	text, _ := t.fill(variables, most, func(before, _ string, value any) string { return write(before, value) })
	return text
}

// fill returns the text with its variables filled in, and the number of bytes that the values add, which is at most the given maximum
// (most). write formats the value of a name.
func (t *Template) fill(
	variables map[string]any, most int, write func(before, name string, value any) string,
) (filled string, added int) {
	if len(t.parts) == 0 {
		return t.text, 0
	}
	left := most
	var b strings.Builder
	b.Grow(len(t.text) + usual*len(t.parts))
	for _, p := range t.parts {
		b.WriteString(p.text)
		if left == 0 {
			continue
		}
		value, _ := LookUp(p.name, variables)
		text := write(b.String(), p.name, value)
		if len(text) > left {
			text = clip(text, left)
			left = len(text)
		}
		left -= len(text)
		b.WriteString(text)
	}
	b.WriteString(t.rest)
	return b.String(), most - left
}

// clip truncates a text to the given number of bytes, without a partial character at the end.
func clip(text string, most int) string { return strings.ToValidUTF8(text[:min(most, len(text))], "") }

// usual is the expected length of a value, in bytes. It only sizes buffers.
const usual = 16

// LookUp returns the value of a variable. It looks for the whole name first, and then for the members that a dotted name names.
func LookUp(name string, variables map[string]any) (value any, known bool) {
	if v, ok := variables[name]; ok {
		return v, true
	}
	first, rest, dotted := strings.Cut(name, ".")
	inner, ok := variables[first].(map[string]any)
	if !dotted || !ok {
		return nil, false
	}
	return LookUp(rest, inner)
}

// Spoken returns a JSON value as text. nil becomes an empty text.
func Spoken(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
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
