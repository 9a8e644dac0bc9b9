package header

import "strings"

// Outbound returns the headers that an outbound trunk's rules create from a call's variables and from constants. It omits a header if its
// variable is absent, empty or not a valid header value.
func Outbound(rules []Rule, variables map[string]string) []Header {
	var headers []Header
	for _, r := range rules {
		var h Header
		switch {
		case r.UUI != nil:
			h = Header{Name: userToUser, Value: r.UUI.render(variables[r.UUI.Target])}
		case r.Custom != nil && r.Custom.Passthrough:
			h = Header{Name: r.Custom.Key, Value: r.Custom.Value}
		case r.Custom != nil:
			h = Header{Name: r.Custom.Value, Value: strings.Trim(variables[r.Custom.Key], " \t")}
		}
		if h.Value != "" && fit(h.Value) {
			headers = append(headers, h)
		}
	}
	return headers
}
