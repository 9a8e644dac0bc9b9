package request

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/template"
)

// body is the template of a body. In one of JSON, a variable within a string is escaped as strings are, and any other is
// written as the value that it is, so that no value leaves its place.
type body struct {
	text   *template.Template
	kind   bodyKind
	quoted []bool // of JSON: the variables that stand within a string
}

// bodyKind says how variables are written.
type bodyKind int

const (
	bodyText bodyKind = iota
	bodyJSON
	bodyForm
)

// types are the content types that are sent where the source names none.
var types = map[bodyKind]string{bodyText: "text/plain; charset=utf-8", bodyJSON: "application/json"}

// parseBody reads the body: a form where the Content-Type says so, JSON where it says so or says nothing and the text is
// JSON, else a text. What must be JSON, or begins like it, and is not, is refused.
func (c *Call) parseBody() error {
	if c.source.Body == "" {
		return nil
	}
	if len(c.source.Body) > MaxBody {
		return callwright.Invalid("body", "must not have more than %d bytes", MaxBody)
	}
	c.body = &body{text: template.Parse(c.source.Body)}
	kind := ""
	for _, h := range c.headers {
		if strings.EqualFold(h.name, "Content-Type") {
			kind = strings.ToLower(h.value.Text())
		}
	}
	isJSON := c.body.parseJSON()
	begins := strings.TrimSpace(c.body.text.Literals()[0])
	switch {
	case strings.Contains(kind, "x-www-form-urlencoded"):
		c.body.kind = bodyForm
	case isJSON && (kind == "" || strings.Contains(kind, "json")):
		c.body.kind = bodyJSON
	case strings.Contains(kind, "json"), kind == "" && begins != "" && strings.ContainsAny(begins[:1], "{["):
		return callwright.Invalid("body", "must be JSON; variables may stand within its strings, or in the place of a value")
	}
	return nil
}

// parseJSON says whether the template is JSON with variables in it, and finds those that stand within strings. null takes
// the place of a value because it makes one of nothing that it touches, and so does x after a backslash.
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
	return []byte(b.text.RenderWith(variables, func(_ string, value any) string {
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

// Encode is a value as JSON; null for what JSON can't hold.
func Encode(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}
