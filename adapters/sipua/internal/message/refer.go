package message

import (
	"strconv"
	"strings"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/dialog"
)

// ReferTo returns the number to which a REFER transfers us, or why it can't be called: the status and a text for its
// Warning. A REFER has one Refer-To (RFC 3515, 2.4.2), and asks for an INVITE. One with Replaces is an attended transfer
// (RFC 5589, section 7), which is not supported.
func ReferTo(req *sip.Request) (to callwright.PhoneNumber, status int, why string) {
	targets := append(req.GetHeaders("Refer-To"), req.GetHeaders("r")...)
	if len(targets) != 1 {
		return "", sip.StatusBadRequest, "one Refer-To is required"
	}
	text := targets[0].Value()
	var target sip.Uri
	var params sip.HeaderParams
	if _, err := sip.ParseAddressValue(text, &target, &params); err != nil {
		return "", sip.StatusBadRequest, "the Refer-To is malformed"
	}
	_, headers, _ := strings.Cut(strings.ToLower(text), "?")
	method, other := target.UriParams.Get("method")
	switch {
	case !isKnownScheme(target.Scheme):
		return "", statusUnknownScheme, "the Refer-To must be a sip, sips or tel URI"
	case strings.HasPrefix(headers, "replaces=") || strings.Contains(headers, "&replaces="):
		return "", sip.StatusGlobalDecline, "attended transfers are not supported"
	case other && !strings.EqualFold(method, string(sip.INVITE)):
		return "", sip.StatusGlobalDecline, "only calls can be transferred to"
	}
	to, err := Number(&target)
	if err != nil {
		return "", sip.StatusNotFound, "the Refer-To must have a phone number with its country code"
	}
	return to, 0, ""
}

// Warning returns a Warning header for people (RFC 3261, 20.43); host names us.
func Warning(host, text string) string { return "399 " + host + " " + strconv.Quote(Printable(text)) }

// extendNotify adds the headers of a NOTIFY about a REFER (RFC 3515, 2.4).
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

// Fragment returns the body of a NOTIFY about a REFER: the status line of the call to the target.
func Fragment(p dialog.Progress) []byte {
	return []byte(version + " " + strconv.Itoa(p.Status) + " " + reasons[p.Status] + "\r\n")
}
