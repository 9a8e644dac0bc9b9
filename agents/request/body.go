package request

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/template"
)

// body is the template of a request body. In JSON, a variable within a string is escaped, and any other variable is encoded as a JSON
// value, so that values cannot change the rest of the body.
type body struct {
	text   *template.Template
	kind   bodyKind
	quoted []bool // for JSON: whether each variable is within a string
}

// bodyKind is the format of a body, which determines the encoding of its variables.
type bodyKind int

const (
	bodyText bodyKind = iota
	bodyJSON
	bodyForm
)

// types maps kinds of bodies to the Content-Type of requests that set none.
var types = map[bodyKind]string{bodyText: "text/plain; charset=utf-8", bodyJSON: "application/json"}

// parseBody parses a body, and returns nil for an empty text. The Content-Type determines the format: form, JSON or text. Without a
// Content-Type, the body is JSON if the text is valid JSON, else text. parseBody refuses invalid JSON if the Content-Type is JSON, or if
// there is no Content-Type and the text begins with { or [. It also refuses a text that is too long.
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
		return nil, callwright.Invalid("body", "must be JSON, in which variables stand inside strings or replace whole values")
	}
	return b, nil
}

// parseJSON reports whether the template is JSON with variables, and records which variables are within strings. For the check it replaces
// a variable by null, or by x within a string, because both make adjacent text invalid.
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

// render returns the body with its variables filled in and encoded for its kind.
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
