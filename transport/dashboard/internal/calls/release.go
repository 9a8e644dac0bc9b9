package calls

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// statuses maps SIP status codes to descriptions (RFC 3261, 21). sipStatus describes other codes by their class.
var statuses = map[int]string{
	180: "ringing", 183: "in progress", 200: "answered", 403: "forbidden", 404: "number not found", 408: "no answer in time",
	410: "the number is gone", 480: "not available", 484: "number incomplete", 486: "busy", 487: "given up before the answer",
	488: "no media in common", 500: "failure of the server", 502: "failure behind the server", 503: "out of service or no room",
	504: "no answer behind the server", 600: "busy everywhere", 603: "declined", 604: "the number does not exist", 606: "no media in common",
	607: "unwanted", 608: "blocked on its way",
}

// sipStatus returns a SIP status code with its description.
func sipStatus(code int) string {
	text, ok := statuses[code]
	switch {
	case ok:
	case code < 200:
		text = "in progress"
	case code < 300:
		text = "answered"
	case code < 400:
		text = "redirected"
	case code == 401, code == 407:
		text = "credentials required"
	case code < 500:
		text = "refused"
	case code < 600:
		text = "failure of the server"
	default:
		text = "refused everywhere"
	}
	return strconv.Itoa(code) + ": " + text
}

// q850 maps the causes of ITU-T Q.850 to descriptions. It contains only the causes that carriers send.
var q850 = map[int]string{
	1: "unassigned number", 2: "no route to the network", 3: "no route to the destination", 16: "normal hang-up", 17: "busy",
	18: "the phone does not respond", 19: "no answer", 20: "the subscriber is absent", 21: "call rejected", 22: "number changed",
	26: "answered elsewhere", 27: "destination out of order", 28: "number incomplete", 29: "facility rejected", 31: "normal, unspecified",
	34: "no circuit available", 38: "network out of order", 41: "temporary failure", 42: "congestion", 47: "resource unavailable",
	50: "facility not subscribed", 55: "incoming calls barred", 57: "bearer capability not authorized", 58: "bearer capability not available",
	63: "service not available", 65: "bearer capability not implemented", 79: "service not implemented", 88: "incompatible destination",
	102: "a timer expired", 111: "protocol error", 127: "interworking, unspecified",
}

// reason matches the cause of a Reason header (RFC 3326).
var reason = regexp.MustCompile(`(?i)\b(Q\.850|SIP)\s*;[^,"]*?\bcause\s*=\s*(\d{1,3})\b`)

// releaseText describes the causes in the peer's Reason headers, and appends the headers unchanged in parentheses. If it knows none of the
// causes, it returns only the headers.
func releaseText(release string) string {
	var words []string
	for _, found := range reason.FindAllStringSubmatch(release, -1) {
		names := statuses
		if strings.EqualFold(found[1], "Q.850") {
			names = q850
		}
		code, _ := strconv.Atoi(found[2])
		if name, ok := names[code]; ok && !slices.Contains(words, name) {
			words = append(words, name)
		}
	}
	if len(words) == 0 {
		return release
	}
	return strings.Join(words, ", ") + " (" + release + ")"
}
