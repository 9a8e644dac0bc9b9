package cassette

import (
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
)

// redact replaces credentials, and the values that the configuration names, in a text.
func (m *Model) redact(text string) string {
	text = callwright.Redact(text)
	if m.config.Redact != nil {
		text = m.config.Redact(text)
	}
	return text
}

// redactValue does so in every text of a value of JSON.
func (m *Model) redactValue(v any) any {
	switch v := v.(type) {
	case string:
		return m.redact(v)
	case []any:
		for i := range v {
			v[i] = m.redactValue(v[i])
		}
	case map[string]any:
		for name, inner := range v {
			if _, text := inner.(string); text && callwright.NamesSecret(name) {
				v[name] = callwright.Redacted
			} else {
				v[name] = m.redactValue(inner)
			}
		}
	}
	return v
}

// redactParts does so in a reply. A credential may stand across its pieces, so a text with one becomes one piece.
func (m *Model) redactParts(parts []llm.ReplyPart) []part {
	var whole strings.Builder
	out := make([]part, len(parts))
	for i, p := range parts {
		whole.WriteString(p.Text)
		out[i] = part{Text: p.Text, Action: p.Action, Expect: slices.Clone(p.Expect)}
		if p.Usage != nil {
			out[i].Usage = &usage{p.Usage.Input, p.Usage.Output}
		}
		for j, phrase := range out[i].Expect {
			out[i].Expect[j] = m.redact(phrase)
		}
		if p.Call != nil {
			out[i].Call = &call{p.Call.ID, p.Call.Name, m.redact(string(p.Call.Arguments))}
		}
	}
	if clean := m.redact(whole.String()); clean != whole.String() {
		for i := range out {
			out[i].Text = ""
		}
		out[slices.IndexFunc(parts, func(p llm.ReplyPart) bool { return p.Text != "" })].Text = clean
	}
	return out
}
