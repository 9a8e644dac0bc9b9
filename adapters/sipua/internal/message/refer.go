package message

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/dialog"
)

// ReferTo returns the number to which a REFER transfers us. If it cannot be called, ReferTo returns the status of the refusal and a text
// for its Warning. A REFER must contain one Refer-To (RFC 3515, 2.4.2) and request an INVITE. Attended transfers, whose URI contains
// Replaces (RFC 5589, section 7), are not supported.
func ReferTo(req *sip.Request) (to callwright.PhoneNumber, status int, why string) {
	targets := append(req.GetHeaders("Refer-To"), req.GetHeaders("r")...)
	if len(targets) != 1 {
		return "", sip.StatusBadRequest, "the request must contain exactly one Refer-To"
	}
	text := targets[0].Value()
	var target sip.Uri
	var params sip.HeaderParams
	if _, err := sip.ParseAddressValue(text, &target, &params); err != nil {
		return "", sip.StatusBadRequest, "the Refer-To is malformed"
	}
	method, other := methodOf(&target)
	switch {
	case !isKnownScheme(target.Scheme):
		return "", statusUnknownScheme, "the Refer-To must be a sip, sips or tel URI"
	case asksFor(text, "Replaces"):
		return "", sip.StatusGlobalDecline, "attended transfers are not supported"
	case other && !strings.EqualFold(method, string(sip.INVITE)):
		return "", sip.StatusGlobalDecline, "the method in the Refer-To must be INVITE"
	}
	to, err := Number(&target)
	if err != nil {
		return "", sip.StatusNotFound, "the Refer-To must contain a phone number with its country code"
	}
	return to, 0, ""
}

// asksFor reports whether a URI contains a header with the given name for the request. Names in the URI may be escaped (RFC 3261, 19.1.4).
func asksFor(uri, header string) bool {
	_, headers, _ := strings.Cut(uri, "?")
	for _, field := range strings.FieldsFunc(headers, func(c rune) bool { return c == '?' || c == '&' }) {
		if end := strings.IndexAny(field, "=;>"); end >= 0 {
			field = field[:end]
		}
		if strings.EqualFold(unescaped(field), header) {
			return true
		}
	}
	return false
}

// methodOf returns the method parameter of a URI, and whether the URI contains one.
func methodOf(u *sip.Uri) (method string, ok bool) {
	for _, param := range u.UriParams {
		if strings.EqualFold(unescaped(param.K), "method") {
			return unescaped(param.V), true
		}
	}
	return "", false
}

// unescaped decodes the escapes in a part of a URI. It returns a malformed text unchanged.
func unescaped(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

// Warning returns the value of a Warning header with code 399 (RFC 3261, 20.43). host is our name.
func Warning(host, text string) string { return "399 " + host + " " + strconv.Quote(Printable(text)) }

// extendNotify adds the headers for the subscription of a REFER to a NOTIFY (RFC 3515, 2.4).
func extendNotify(req *sip.Request, p dialog.Progress) {
	event := "refer"
	if p.ID > 0 {
		event += ";id=" + strconv.FormatUint(uint64(p.ID), 10)
	}
	state := "active;expires=" + Seconds(p.Expires)
	if p.Final {
		state = "terminated;reason=noresource"
	}
	req.AppendHeader(sip.NewHeader("Event", event))
	req.AppendHeader(sip.NewHeader("Subscription-State", state))
	req.AppendHeader(sip.NewHeader("Content-Type", "message/sipfrag;version=2.0"))
}

// Fragment returns the body of a REFER's NOTIFY, which is the status line of the call to the target.
func Fragment(p dialog.Progress) []byte {
	return []byte(version + " " + strconv.Itoa(p.Status) + " " + reasons[p.Status] + "\r\n")
}
