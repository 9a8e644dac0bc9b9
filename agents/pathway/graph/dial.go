package graph

import (
	"strings"

	"github.com/callwright/callwright"
)

// digits contains the characters that conversation.Press accepts.
const digits = "0123456789ABCD*#w"

// IsDigits reports whether a text can be sent as digits: it is not empty and contains only 0-9, A-D, *, # and w.
func IsDigits(text string) bool { return text != "" && strings.Trim(text, digits) == "" }

// IsDialable reports whether a call can be transferred to a text, because it is an E.164 number or a SIP URI.
func IsDialable(to string) bool {
	scheme, rest, isURI := strings.Cut(strings.ToLower(to), ":")
	if isURI {
		return (scheme == "sip" || scheme == "sips") && rest != "" && !strings.ContainsAny(rest, " \t\r\n<>\"")
	}
	_, err := callwright.ParsePhoneNumber(to)
	return err == nil
}
