package header

import (
	"strings"
	"unicode/utf8"
)

// Inbound returns the variables that an inbound trunk's rules extract from a message's headers, and the constants that the rules assign.
// Several headers with the same name are joined with commas (RFC 3261, section 7.3.1). A header that is absent, malformed or longer than
// MaxValue sets no variable, and does not prevent the call.
func Inbound(rules []Rule, headers []Header) map[string]string {
	variables := map[string]string{}
	for _, r := range rules {
		switch {
		case r.UUI != nil:
			if text, ok := r.UUI.find(joined(headers, userToUser)); ok {
				variables[r.UUI.Target] = text
			}
		case r.Custom != nil && r.Custom.Passthrough:
			variables[r.Custom.Key] = r.Custom.Value
		case r.Custom != nil:
			if text := joined(headers, r.Custom.Key); text != "" {
				variables[r.Custom.Value] = text
			}
		}
	}
	return variables
}

// joined returns the comma-separated values of all headers with a name, or "" if they are absent or invalid.
func joined(headers []Header, name string) string {
	var values []string
	for _, h := range headers {
		if strings.EqualFold(h.Name, name) {
			values = append(values, strings.Trim(h.Value, " \t"))
		}
	}
	value := strings.Join(values, ", ")
	if !fit(value) {
		return ""
	}
	return value
}

// fit reports whether a text is a valid header value: a single line of UTF-8 of at most MaxValue bytes.
func fit(value string) bool {
	return len(value) <= MaxValue && utf8.ValidString(value) && !strings.ContainsFunc(value, isControl)
}

// isControl reports whether a rune is a control character other than the tab, which is white space in a header.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 }
