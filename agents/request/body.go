package request

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/template"
)

// body is the template of a body. In JSON, a variable within a string is escaped, and any other is encoded as a value, so that
// values cannot change the rest of the body.
type body struct {
	text   *template.Template
	kind   bodyKind
	quoted []bool // of JSON: for each variable, whether it is within a string
}

// bodyKind is the encoding of variables in a body.
type bodyKind int

const (
	bodyText bodyKind = iota
	bodyJSON
	bodyForm
)

// types are the default content types.
var types = map[bodyKind]string{bodyText: "text/plain; charset=utf-8", bodyJSON: "application/json"}

// parseBody parses a body; nil for none. It is a form by its Content-Type, and JSON by its Content-Type, or without one if the text
// is JSON. Else it is text. A body that must be JSON, or begins like JSON, is refused if it is not.
func parseBody(text, contentType string) (*body, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // there is no body
	}
	if callwright.Longer(text, maxText) {
		return nil, callwright.Invalid("body", "must have at most %d characters", maxText)
	}
	b := &body{text: template.Parse(text)}
	isJSON := b.parseJSON()
	begin := strings.TrimSpace(b.text.Literals()[0])
	switch kind := strings.ToLower(contentType); {
	case strings.Contains(kind, "x-www-form-urlencoded"):
		b.kind = bodyForm
	case isJSON && (kind == "" || strings.Contains(kind, "json")):
		b.kind = bodyJSON
	case strings.Contains(kind, "json"), kind == "" && begin != "" && strings.ContainsAny(begin[:1], "{["):
		return nil, callwright.Invalid("body", "must be JSON, with variables within strings or in the place of a value")
	}
	return b, nil
}

// parseJSON reports whether the template is JSON with variables, and finds the variables within strings. For the check, null stands
// for a value and x for a part of a string, because both invalidate adjacent text.
func (b *body) parseJSON() bool {
	literals := b.text.Literals()
	var sample strings.Builder
	inside, escaped := false, false
	for i, literal := range literals {
		for _, r := range literal {
			switch {
			case escaped:
				escaped = false
			case r == '\\':
				escaped = true
			case r == '"':
				inside = !inside
			}
		}
		sample.WriteString(literal)
		if i == len(literals)-1 {
			break
		}
		b.quoted = append(b.quoted, inside)
		if inside {
			sample.WriteString("x")
		} else {
			sample.WriteString("null")
		}
	}
	return json.Valid([]byte(sample.String()))
}

// render fills the variables in.
func (b *body) render(variables map[string]any) []byte {
	n := 0
	return []byte(b.text.RenderWith(variables, beyond(MaxBody), func(_ string, value any) string {
		n++
		switch {
		case b.kind == bodyForm:
			return url.QueryEscape(template.Spoken(value))
		case b.kind == bodyText:
			return template.Spoken(value)
		case b.quoted[n-1]:
			text := Encode(template.Spoken(value))
			return string(text[1 : len(text)-1])
		default:
			return string(Encode(value))
		}
	}))
}
