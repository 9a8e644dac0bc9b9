package message

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/sip/dialog"
)

// ReadRequest extracts the values for the dialog's state machine from a request. [Validate] must have accepted the request.
func ReadRequest(req *sip.Request) dialog.Request {
	r := dialog.Request{
		Method: dialog.Method(req.Method), CSeq: req.CSeq().SeqNo, RemoteTag: Tag(req.From().Params),
		Contact: contactOf(req), Body: Description(req) != nil, Require: tokens(req.GetHeaders("Require")), Release: Release(req),
	}
	r.Routes, _ = recordedRoutes(req) // the error was checked by ValidateInvite
	switch req.Method {
	case sip.INVITE:
		r.Session = readSession(req)
	case sip.NOTIFY:
		r.Progress, r.Final = readProgress(req)
	default:
	}
	return r
}

// ReadResponse extracts the values for the dialog's state machine from a response to the request with the given method and CSeq.
func ReadResponse(method dialog.Method, cseq uint32, res *sip.Response) dialog.Response {
	r := dialog.Response{
		Method: method, CSeq: cseq, Status: res.StatusCode, Reason: Printable(res.Reason), Contact: contactOf(res),
		Body: Description(res) != nil,
	}
	r.Routes, _ = recordedRoutes(res)
	if method == dialog.INVITE {
		r.Session, r.Release = readSession(res), Release(res)
	}
	if to := res.To(); to != nil {
		r.RemoteTag = Tag(to.Params)
	}
	return r
}

// Tag returns the tag of a From or To header.
func Tag(params sip.HeaderParams) string { return params.GetOr("tag", "") }

// contactOf returns the URI of a message's Contact. It returns an empty text if there is none or it is no SIP URI.
func contactOf(msg interface{ Contact() *sip.ContactHeader }) string {
	contact := msg.Contact()
	if contact == nil || contact.Address.Wildcard || !isSIP(&contact.Address) {
		return ""
	}
	return contact.Address.String()
}

// recordRoute is the header by which proxies request that a dialog's further requests pass through them.
const recordRoute = "Record-Route"

// parser is sipgo's parser without special handling of Record-Route. sipgo drops the parameters after a URI, but a response must repeat
// them (RFC 3261, 12.1.1).
var parser = newParser()

func newParser() *sip.Parser {
	headers := maps.Clone(sip.DefaultHeadersParser())
	delete(headers, strings.ToLower(recordRoute))
	return sip.NewParser(sip.WithHeadersParsers(headers))
}

// Parse parses a complete message, without changing its Record-Route headers.
func Parse(data []byte) (sip.Message, error) { return parser.ParseSIP(data) }

// recordedRoutes returns the Record-Route entries of a message, in order. If an entry is malformed, it returns an error and the entries
// before it.
func recordedRoutes(msg interface {
	GetHeaders(name string) []sip.Header
}) ([]dialog.Route, error) {
	var routes []dialog.Route
	for _, h := range msg.GetHeaders(recordRoute) {
		for entry := range addresses(h.Value()) {
			var u sip.Uri
			var params sip.HeaderParams
			if _, err := sip.ParseAddressValue(entry, &u, &params); err != nil {
				return routes, err
			}
			routes = append(routes, dialog.Route{URI: u.String(), Loose: u.UriParams.Has("lr")})
		}
	}
	return routes, nil
}

// addresses yields the entries of a comma-separated list of addresses. It does not split at commas within quotes or angle brackets.
func addresses(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		quoted, bracketed, from := false, false, 0
		for i := 0; i < len(list); i++ {
			switch c := list[i]; {
			case c == '\\' && quoted:
				i++
			case c == '"' && !bracketed:
				quoted = !quoted
			case (c == '<' || c == '>') && !quoted:
				bracketed = c == '<'
			case c == ',' && !quoted && !bracketed:
				if !yield(strings.TrimSpace(list[from:i])) {
					return
				}
				from = i + 1
			}
		}
		yield(strings.TrimSpace(list[from:]))
	}
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

// Requires reports whether a message's Require headers contain an option tag, which must be in lower case.
func Requires(msg interface {
	GetHeaders(name string) []sip.Header
}, tag string,
) bool {
	return slices.Contains(tokens(msg.GetHeaders("Require")), tag)
}

// readSession parses the session timer headers of RFC 4028, including their compact forms.
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

// ReadRetryAfter returns the delay in a response's Retry-After header (RFC 3261, 20.33), or 0 if there is none.
func ReadRetryAfter(res *sip.Response) time.Duration {
	h := res.GetHeader("Retry-After")
	if h == nil {
		return 0
	}
	text, _, _ := strings.Cut(h.Value(), ";")
	text, _, _ = strings.Cut(text, "(")
	return ReadSeconds(text)
}

// readProgress returns the status in the body of a REFER's NOTIFY (RFC 3515, 2.4.5), or 0, and whether the subscription has ended.
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
