// Package template puts variables in the place of {{name}} in texts. A text is parsed once and rendered often.
package template

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Template is a text with variables in it. It never changes, and may be shared.
type Template struct {
	text  string
	parts []part
	rest  string // what comes behind the last part
}

// part is a stretch of text and the variable behind it.
type part struct{ text, name string }

// Parse reads a text. Blanks inside the braces don't count; a dotted name such as {{caller.name}} looks into objects.
// Every text is a template: braces that are not closed are text.
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
		t.parts = append(t.parts, part{text: before, name: strings.TrimSpace(name)})
		t.rest = after
	}
}

// Text is the text as it was written.
func (t *Template) Text() string { return t.text }

// MaxNames is how many variables Names gives.
const MaxNames = 100

// Names are the first variables of the text, each once, in order.
func (t *Template) Names() []string {
	var names []string
	for _, p := range t.parts {
		if len(names) == MaxNames {
			break
		}
		if p.name != "" && !slices.Contains(names, p.name) {
			names = append(names, p.name)
		}
	}
	return names
}

// Literals are the texts around the variables: one more than those there are, and empty where there is none.
func (t *Template) Literals() []string {
	literals := make([]string, 0, len(t.parts)+1)
	for _, p := range t.parts {
		literals = append(literals, p.text)
	}
	return append(literals, t.rest)
}

// Missing are those of Names that have no value.
func (t *Template) Missing(variables map[string]any) []string {
	return slices.DeleteFunc(t.Names(), func(name string) bool {
		_, known := LookUp(name, variables)
		return known
	})
}

// Render fills the variables in. An unknown name becomes nothing, so that an agent never speaks braces; a value is data:
// what looks like a variable in it stays as it is.
func (t *Template) Render(variables map[string]any) string {
	return t.fill(variables, MaxValues, spoken)
}

// RenderShort is Render with at most so many bytes of variables.
func (t *Template) RenderShort(variables map[string]any, most int) string {
	return t.fill(variables, most, spoken)
}

func spoken(_ string, value any) string { return Spoken(value) }

// MaxValues is how many bytes of variables stand in one text; what is beyond is cut off. A text that names a long one a
// thousand times would else take gigabytes. It is more than any request may have.
const MaxValues = 128 << 10

// RenderWith fills the variables in as write wants them written. before is the text that has come so far; the value of
// an unknown name is nil.
func (t *Template) RenderWith(variables map[string]any, write func(before string, value any) string) string {
	return t.fill(variables, MaxValues, write)
}

// fill fills in so many bytes of variables.
func (t *Template) fill(variables map[string]any, left int, write func(before string, value any) string) string {
	if len(t.parts) == 0 {
		return t.text
	}
	var b strings.Builder
	b.Grow(len(t.text) + usual*len(t.parts))
	for _, p := range t.parts {
		b.WriteString(p.text)
		if left == 0 {
			continue
		}
		value, _ := LookUp(p.name, variables)
		text := write(b.String(), value)
		if len(text) > left {
			text = strings.ToValidUTF8(text[:left], "")
			left = len(text)
		}
		left -= len(text)
		b.WriteString(text)
	}
	b.WriteString(t.rest)
	return b.String()
}

// usual is how long the value of a variable usually is at most, in bytes.
const usual = 16

// LookUp finds a variable by its whole name, then part by part.
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

// Spoken is a value of JSON as text; nothing for nil.
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
