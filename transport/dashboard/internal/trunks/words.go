package trunks

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// kinds maps states to the styles of their badges. Other states have a default style.
var kinds = map[string]string{
	string(health.Healthy): "good", string(health.Unreachable): "bad", string(health.Unchecked): "plain",
	string(sip.Registered): "good", string(sip.Refused): "bad", string(sip.Registering): "busy",
	string(testcall.Connected): "good", string(testcall.ResultFailed): "bad", string(testcall.ResultBusy): "warn",
	string(testcall.ResultNoAnswer): "warn",
	string(sip.DeliverySent):        "good", string(sip.DeliveryGivenUp): "bad", string(sip.DeliveryWithdrawn): "plain",
}

// state returns the badge of a server, a registration, an attempt, a delivery or a test call.
func state(of any) page.Badge {
	var text string
	switch v := of.(type) {
	case health.State:
		text = string(v.Public())
	case sip.RegistrationState:
		text = string(v)
	case sip.DeliveryState:
		text = string(v)
	case *testcall.Call:
		if v.EndedAt == nil {
			return page.Badge{Kind: "busy", Text: strings.ReplaceAll(string(v.Status), "-", " ")}
		}
		text = string(v.Result)
	case calllog.Record:
		return stateOfAttempt(v)
	}
	kind, ok := kinds[text]
	if !ok {
		kind = "plain"
	}
	return page.Badge{Kind: kind, Text: strings.ReplaceAll(text, "_", " ")}
}

// names maps values of the domain to the words that pages show.
var names = map[any]string{
	alert.Unreachable: "server unreachable", alert.FailureRate: "failure rate", alert.ResponseTime: "response time",
	sip.DTMFEvents: "telephone-events", sip.DTMFInfo: "telephone-events and SIP INFO", sip.DTMFInband: "telephone-events and tones",
	sip.TransferOff: "not allowed", sip.TransferOrganization: "to numbers of the organization", sip.TransferAny: "to any number",
	sip.RedirectOff: "not followed", sip.RedirectSameServer: "followed at the trunk's own servers", sip.RedirectAny: "followed to every server",
	sip.AuthIP: "by address", sip.AuthRegister: "by registration", setup.BothWays: "inbound and outbound",
	setup.Auth(""): "by address", setup.AuthNone: "by address", setup.AuthDigest: "by user name and password", setup.AuthRegister: "by registration",
	sip.TLSVerification(""): "chain and name are checked", sip.VerifyFull: "chain and name are checked",
	sip.VerifyChain: "only the chain is checked", sip.VerifyNone: "is not checked",
}

// word returns the words for a value of the domain, or the value in its default format if the map names does not contain it.
func word(name any) string {
	if text, ok := names[name]; ok {
		return text
	}
	return fmt.Sprint(name)
}

func stateOfAttempt(r calllog.Record) page.Badge {
	text := r.Status
	if text == "" {
		text = r.Cause
	}
	switch {
	case r.EndedAt == nil:
		return page.Badge{Kind: "busy", Text: "running"}
	case r.AnsweredAt != nil:
		return page.Badge{Kind: "good", Text: text}
	case r.Technical:
		return page.Badge{Kind: "bad", Text: text}
	}
	return page.Badge{Kind: "warn", Text: text}
}

// address returns a path with a query. It deletes empty values from query.
func address(path string, query url.Values) string {
	for name, values := range query {
		if strings.Join(values, "") == "" {
			query.Del(name)
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// toTrunk returns the path of a number's page, or of a page below it.
func toTrunk(number string, parts ...string) string {
	return page.Path(append([]string{"/trunks", number}, parts...)...)
}

// whole parses a port. It returns 0 for an empty text and -1, which every domain refuses, for an invalid text.
func whole(text string) int {
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return -1
	}
	return int(n)
}

// uptime formats an uptime in percent, or "unknown" for nil.
func uptime(percent *float64) string {
	if percent == nil {
		return "unknown"
	}
	return strconv.FormatFloat(*percent, 'f', 2, 64) + "%"
}
