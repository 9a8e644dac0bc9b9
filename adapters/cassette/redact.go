package cassette

import (
	"regexp"
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/llm"
)

// hidden stands where a credential was.
const hidden = "[redacted]"

// credentials are what nobody may find in a file that goes into a repository.
var credentials = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{8,}`), "$1 " + hidden},
	{regexp.MustCompile(`\b(?:sk|pk|rk|ghp|gho|xox[abprs]|whsec|AKIA)[-_]?[A-Za-z0-9_-]{12,}`), hidden},
	{regexp.MustCompile(`\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*`), hidden}, // a JSON web token
	{regexp.MustCompile(`(?i)\b(` + names + `)(\\?["']?\s*[:=]\s*\\?["']?)[^\s"'\\,;&]{4,}`), "$1$2" + hidden},
	{regexp.MustCompile(`(://[^/\s:@]*:)[^/\s@]+@`), "$1" + hidden + "@"},
}

// names are what credentials are called, in texts and as the names of variables.
const names = `(?:[\w-]*[_-])?(?:api[_-]?key|apikey|authorization|access[_-]?token|auth[_-]?token|token|secret|password|passwd)`

var secretName = regexp.MustCompile(`(?i)^` + names + `$`)

// redact takes credentials, and what the configuration names, out of a text.
func (m *Model) redact(text string) string {
	for _, c := range credentials {
		text = c.pattern.ReplaceAllString(text, c.instead)
	}
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
			if _, text := inner.(string); text && secretName.MatchString(name) {
				v[name] = hidden
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
