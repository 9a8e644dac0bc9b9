package cassette

import (
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
)

// redact replaces credentials in a text, and then calls Config.Redact.
func (m *Model) redact(text string) string {
	text = callwright.Redact(text)
	if m.config.Redact != nil {
		text = m.config.Redact(text)
	}
	return text
}

// redactValue redacts every text within a JSON value. It replaces the whole text of a member whose name is likely to name a credential.
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

// redactParts converts the parts of a reply and redacts them. A credential may extend over several parts. If the text of all parts contains
// one, the first part with text therefore receives the whole redacted text, and the other parts lose their text.
func (m *Model) redactParts(parts []llm.ReplyPart) []part {
	var whole strings.Builder
	out := make([]part, len(parts))
	for i, p := range parts {
		whole.WriteString(p.Text)
		out[i] = part{Text: p.Text, Action: p.Action, Expect: slices.Clone(p.Expect)}
		if p.Usage != nil {
			out[i].Usage = new(usage(*p.Usage))
		}
		for j, phrase := range out[i].Expect {
			out[i].Expect[j] = m.redact(phrase)
		}
		if p.Call != nil {
			out[i].Call = &call{p.Call.ID, p.Call.Name, m.redact(string(p.Call.Arguments)), string(p.Call.Extra)}
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
