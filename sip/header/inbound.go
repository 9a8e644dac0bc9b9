package header

import (
	"strings"
	"unicode/utf8"
)

// Inbound is the variables that an inbound trunk's rules make of a message's headers. Headers of one name count as one,
// joined with commas (RFC 3261, section 7.3.1). What a rule does not find, or finds malformed or over MaxValue, sets
// nothing: no call fails for it.
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

// joined is the value of a header; empty when it is absent or unfit.
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

// fit says whether a text can be a header's value: a line of UTF-8.
func fit(value string) bool {
	return len(value) <= MaxValue && utf8.ValidString(value) && !strings.ContainsFunc(value, isControl)
}

// isControl leaves out the tab, which is a blank in a header.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 }
