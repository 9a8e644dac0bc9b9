package header

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callwright/callwright"
)

// CheckInbound returns CodeBadRequest, with a field such as "headers[2].value", if a rule is invalid for an inbound trunk or there are more
// than MaxRules rules.
func CheckInbound(rules []Rule) error { return check(rules, checkInbound) }

// CheckOutbound returns CodeBadRequest, with a field such as "headers[2].value", if a rule is invalid for an outbound trunk or there are
// more than MaxRules rules.
func CheckOutbound(rules []Rule) error { return check(rules, checkOutbound) }

func check(rules []Rule, custom func(at string, c Custom) error) error {
	if len(rules) > MaxRules {
		return callwright.Invalid("headers", "must hold at most %d rules", MaxRules)
	}
	for i, r := range rules {
		at := "headers[" + strconv.Itoa(i) + "]"
		var err error
		switch {
		case (r.Custom == nil) == (r.UUI == nil):
			err = callwright.Invalid(at+".type", "must be custom or uui")
		case r.UUI != nil:
			err = checkUUI(at, *r.UUI)
		default:
			err = custom(at, *r.Custom)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func checkInbound(at string, c Custom) error {
	if c.Passthrough {
		return first(checkVariable(at+".key", c.Key), checkConstant(at+".value", c.Value))
	}
	return first(checkName(at+".key", c.Key), checkVariable(at+".value", c.Value))
}

func checkOutbound(at string, c Custom) error {
	if c.Passthrough {
		return first(checkName(at+".key", c.Key), checkConstant(at+".value", c.Value))
	}
	return first(checkVariable(at+".key", c.Key), checkName(at+".value", c.Value))
}

func checkUUI(at string, u UUI) error {
	if u.Encoding != "" && u.Encoding != Hex {
		return callwright.Invalid(at+".encoding", "must be hex, or empty for a quoted string")
	}
	return first(
		checkVariable(at+".target", u.Target), checkParameter(at+".purpose", u.Purpose), checkParameter(at+".content", u.Content),
	)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func checkVariable(at, name string) error {
	if name == "" || utf8.RuneCountInString(name) > MaxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return callwright.Invalid(at, "must be the name of a variable: 1 to %d characters, none of them a control character", MaxName)
	}
	return nil
}

func checkConstant(at, value string) error {
	if value == "" || utf8.RuneCountInString(value) > MaxConstant || !fit(value) {
		return callwright.Invalid(at, "must be one line of 1 to %d characters, without control characters except tabs", MaxConstant)
	}
	return nil
}

func checkParameter(at, value string) error {
	if value != "" && (!isToken(value) || len(value) > MaxName) {
		return callwright.Invalid(at, "must be a token of at most %d characters: letters, digits and -.!%%*_+`'~", MaxName)
	}
	return nil
}

func checkName(at, name string) error {
	if !isToken(name) || len(name) > MaxName {
		return callwright.Invalid(at, "must be the name of a header: 1 to %d letters, digits and characters of -.!%%*_+`'~", MaxName)
	}
	if isOwn(name) {
		return callwright.Invalid(at, "must not be %s, which SIP itself uses", name)
	}
	return nil
}
