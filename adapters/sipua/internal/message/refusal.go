package message

import (
	"fmt"
	"strings"

	"github.com/emiago/sipgo/sip"
)

// reasons maps the statuses that we send to their reason phrases.
var reasons = map[int]string{
	100: "Trying", 180: "Ringing", 183: "Session Progress", 200: "OK", 202: "Accepted",
	400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
	408: "Request Timeout", 410: "Gone", 415: "Unsupported Media Type",
	416: "Unsupported URI Scheme", 420: "Bad Extension", 422: "Session Interval Too Small", 480: "Temporarily Unavailable", 484: "Address Incomplete",
	481: "Call/Transaction Does Not Exist", 482: "Loop Detected", 486: "Busy Here", 487: "Request Terminated",
	488: "Not Acceptable Here", 491: "Request Pending", 500: "Server Internal Error", 501: "Not Implemented",
	502: "Bad Gateway", 503: "Service Unavailable", 504: "Server Time-out", 505: "Version Not Supported",
	600: "Busy Everywhere", 603: "Decline", 604: "Does Not Exist Anywhere", 606: "Not Acceptable",
}

// Reason returns the reason phrase that we send with a status, or an empty text for a status that we do not send.
func Reason(status int) string { return reasons[status] }

// StatusLine returns a response's code and phrase as text. It returns an empty text for code 0.
func StatusLine(code int, phrase string) string {
	if code == 0 {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, phrase))
}

// newResponse builds a response to a request. The response contains our SIP version, even if the request's version differs.
func newResponse(req *sip.Request, status int) *sip.Response {
	res := sip.NewResponseFromRequest(req, status, reasons[status], nil)
	res.SipVersion = version
	return res
}

// Refusal is a response that is built without the state machine of a dialog, usually to refuse a request.
type Refusal struct {
	Status  int
	Headers []sip.Header
}

// Response builds the response to a request. If agent is empty, the response contains no Server header.
func (r Refusal) Response(req *sip.Request, agent string) *sip.Response {
	res := newResponse(req, r.Status)
	if agent != "" {
		res.AppendHeader(sip.NewHeader("Server", agent))
	}
	for _, h := range r.Headers {
		res.AppendHeader(h)
	}
	return res
}
