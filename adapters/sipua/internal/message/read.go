package message

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/sip/dialog"
)

// ReadRequest extracts what the dialog machine needs from a request that [Validate] has accepted.
func ReadRequest(req *sip.Request) dialog.Request {
	r := dialog.Request{
		Method: dialog.Method(req.Method), CSeq: req.CSeq().SeqNo, RemoteTag: Tag(req.From().Params),
		Contact: contactOf(req), Routes: recordedRoutes(req), Body: len(req.Body()) > 0,
		Require: tokens(req.GetHeaders("Require")),
	}
	switch req.Method {
	case sip.INVITE:
		r.Session = readSession(req)
	case sip.NOTIFY:
		r.Progress, r.Final = readProgress(req)
	default:
	}
	return r
}

// ReadResponse extracts what the dialog machine needs from a response to the request with that method and CSeq.
func ReadResponse(method dialog.Method, cseq uint32, res *sip.Response) dialog.Response {
	r := dialog.Response{
		Method: method, CSeq: cseq, Status: res.StatusCode, Reason: Printable(res.Reason), Contact: contactOf(res),
		Routes: recordedRoutes(res), Body: len(res.Body()) > 0,
	}
	if method == dialog.INVITE {
		r.Session = readSession(res)
	}
	if to := res.To(); to != nil {
		r.RemoteTag = Tag(to.Params)
	}
	return r
}

// Tag returns the tag of a From or To header.
func Tag(params sip.HeaderParams) string { return params.GetOr("tag", "") }

func contactOf(msg interface{ Contact() *sip.ContactHeader }) string {
	contact := msg.Contact()
	if contact == nil || contact.Address.Wildcard {
		return ""
	}
	return contact.Address.String()
}

func recordedRoutes(msg interface {
	GetHeaders(name string) []sip.Header
}) []dialog.Route {
	var routes []dialog.Route
	for _, h := range msg.GetHeaders("Record-Route") {
		if rr, ok := h.(*sip.RecordRouteHeader); ok {
			routes = append(routes, dialog.Route{URI: rr.Address.String(), Loose: rr.Address.UriParams.Has("lr")})
		}
	}
	return routes
}

// tokens returns the comma-separated values of headers, in lower case.
func tokens(headers []sip.Header) []string {
	var all []string
	for _, h := range headers {
		for token := range strings.SplitSeq(h.Value(), ",") {
			if token = strings.ToLower(strings.TrimSpace(token)); token != "" {
				all = append(all, token)
			}
		}
	}
	return all
}

// Requires reports whether a message has an option tag in its Require headers.
func Requires(msg interface {
	GetHeaders(name string) []sip.Header
}, tag string,
) bool {
	return slices.Contains(tokens(msg.GetHeaders("Require")), tag)
}

// readSession reads the session timer headers of RFC 4028, their compact forms included.
func readSession(msg interface {
	GetHeaders(name string) []sip.Header
}) dialog.Session {
	var s dialog.Session
	for _, name := range []string{"Session-Expires", "x"} {
		for _, h := range msg.GetHeaders(name) {
			seconds, params, _ := strings.Cut(h.Value(), ";")
			s.Expires = ReadSeconds(seconds)
			for param := range strings.SplitSeq(params, ";") {
				if who, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(param)), "refresher="); ok {
					s.Refresher = dialog.Refresher(who)
				}
			}
		}
	}
	for _, h := range msg.GetHeaders("Min-SE") {
		seconds, _, _ := strings.Cut(h.Value(), ";")
		s.MinSE = ReadSeconds(seconds)
	}
	if s.Refresher != dialog.UAC && s.Refresher != dialog.UAS {
		s.Refresher = ""
	}
	for _, name := range []string{"Supported", "k", "Require"} {
		for _, token := range tokens(msg.GetHeaders(name)) {
			s.Supported = s.Supported || token == "timer"
		}
	}
	return s
}

// ReadRetryAfter returns the delay of a response's Retry-After header (RFC 3261, 20.33); 0 without one.
func ReadRetryAfter(res *sip.Response) time.Duration {
	h := res.GetHeader("Retry-After")
	if h == nil {
		return 0
	}
	text, _, _ := strings.Cut(h.Value(), ";")
	text, _, _ = strings.Cut(text, "(")
	return ReadSeconds(text)
}

// readProgress reads a NOTIFY of a REFER: the status line in its body (RFC 3515, 2.4.5), and whether the subscription has
// ended.
func readProgress(req *sip.Request) (status int, final bool) {
	line, _, _ := strings.Cut(string(req.Body()), "\n")
	fields := strings.Fields(line)
	if len(fields) >= 2 && fields[0] == "SIP/2.0" {
		if n, err := strconv.Atoi(fields[1]); err == nil && n >= 100 && n < 700 {
			status = n
		}
	}
	state := req.GetHeader("Subscription-State")
	return status, state != nil && strings.HasPrefix(strings.ToLower(strings.TrimSpace(state.Value())), "terminated")
}
