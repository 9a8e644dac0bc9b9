package sipua

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/sip/dialog"
)

const maxForwards = 70

// reasons are the phrases of the statuses that we answer with.
var reasons = map[int]string{
	100: "Trying", 180: "Ringing", 200: "OK",
	400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 415: "Unsupported Media Type",
	416: "Unsupported URI Scheme", 420: "Bad Extension", 422: "Session Interval Too Small", 480: "Temporarily Unavailable",
	481: "Call/Transaction Does Not Exist", 482: "Loop Detected", 486: "Busy Here", 487: "Request Terminated",
	488: "Not Acceptable Here", 491: "Request Pending", 500: "Server Internal Error", 501: "Not Implemented",
	503: "Service Unavailable", 505: "Version Not Supported", 603: "Decline",
}

// party is one end of a call as From and To name it.
type party struct {
	display string
	uri     sip.Uri
}

// identity is what all requests of a call have in common.
type identity struct {
	callID   string
	localTag string
	local    party
	remote   party
	contact  sip.Uri
	via      sip.Uri // host and port for responses
	agent    string  // User-Agent, Server
}

// request builds what the machine wants sent, without its body and without credentials.
func (id *identity) request(s dialog.Send) (*sip.Request, error) {
	var target sip.Uri
	if err := sip.ParseUri(s.Via.RequestURI, &target); err != nil {
		return nil, fmt.Errorf("request URI: %w", err)
	}
	target.Headers = nil // never in a Request-URI (RFC 3261, 19.1.5)
	req := sip.NewRequest(sip.RequestMethod(s.Method), target)
	req.SetTransport(transport)
	via := &sip.ViaHeader{
		ProtocolName: "SIP", ProtocolVersion: "2.0", Transport: transport, Host: id.via.Host, Port: id.via.Port,
	}
	via.Params.Add("branch", sip.GenerateBranchN(24))
	req.AppendHeader(via)
	for _, route := range s.Via.Routes {
		req.AppendHeader(sip.NewHeader("Route", "<"+route.URI+">"))
	}
	hops := sip.MaxForwardsHeader(maxForwards)
	callID := sip.CallIDHeader(id.callID)
	from := &sip.FromHeader{DisplayName: id.local.display, Address: id.local.uri}
	from.Params.Add("tag", id.localTag)
	to := &sip.ToHeader{DisplayName: id.remote.display, Address: id.remote.uri}
	if s.RemoteTag != "" {
		to.Params.Add("tag", s.RemoteTag)
	}
	for _, h := range []sip.Header{
		&hops, from, to, &callID, &sip.CSeqHeader{SeqNo: s.CSeq, MethodName: sip.RequestMethod(s.Method)},
	} {
		req.AppendHeader(h)
	}
	id.extend(req, s)
	return req, nil
}

// extend adds the headers that depend on the method.
func (id *identity) extend(req *sip.Request, s dialog.Send) {
	switch s.Method {
	case dialog.INVITE:
		req.AppendHeader(&sip.ContactHeader{Address: id.contact})
		req.AppendHeader(sip.NewHeader("Allow", dialog.Allow))
		req.AppendHeader(sip.NewHeader("Supported", "timer"))
		addSession(req, s.Session)
	case dialog.REFER:
		req.AppendHeader(&sip.ContactHeader{Address: id.contact})
		req.AppendHeader(sip.NewHeader("Refer-To", "<"+s.ReferTo+">"))
		req.AppendHeader(sip.NewHeader("Referred-By", "<"+id.local.uri.String()+">"))
	default:
	}
	req.AppendHeader(sip.NewHeader("User-Agent", id.agent))
}

// cancelOf is the CANCEL of an INVITE: the same branch, no Require, no body (RFC 3261, 9.1).
func cancelOf(invite *sip.Request) *sip.Request {
	req := sip.NewRequest(sip.CANCEL, invite.Recipient)
	req.SetTransport(transport)
	req.AppendHeader(invite.Via().Clone())
	sip.CopyHeaders("Route", invite, req)
	hops := sip.MaxForwardsHeader(maxForwards)
	req.AppendHeader(&hops)
	sip.CopyHeaders("From", invite, req)
	sip.CopyHeaders("To", invite, req)
	sip.CopyHeaders("Call-ID", invite, req)
	req.AppendHeader(&sip.CSeqHeader{SeqNo: invite.CSeq().SeqNo, MethodName: sip.CANCEL})
	req.SetBody(nil)
	return req
}

func addSession(msg interface{ AppendHeader(header sip.Header) }, s dialog.Session) {
	if s.Expires > 0 {
		value := seconds(s.Expires)
		if s.Refresher != "" {
			value += ";refresher=" + string(s.Refresher)
		}
		msg.AppendHeader(sip.NewHeader("Session-Expires", value))
	}
	if s.MinSE > 0 {
		msg.AppendHeader(sip.NewHeader("Min-SE", seconds(s.MinSE)))
	}
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }

// response builds what the machine wants answered, without its body.
func (id *identity) response(req *sip.Request, r dialog.Respond) *sip.Response {
	res := sip.NewResponseFromRequest(req, r.Status, reasons[r.Status], nil)
	if to := res.To(); to != nil && r.Status > 100 {
		if !req.To().Params.Has("tag") {
			to.Params.Add("tag", id.localTag)
		}
	}
	res.AppendHeader(sip.NewHeader("Server", id.agent))
	success := r.Status/100 == 2
	if r.Method == dialog.INVITE && (success || r.Status == 180) {
		res.AppendHeader(&sip.ContactHeader{Address: id.contact})
	}
	if r.Method == dialog.INVITE && success || r.Method == dialog.OPTIONS {
		res.AppendHeader(sip.NewHeader("Allow", dialog.Allow))
		res.AppendHeader(sip.NewHeader("Supported", "timer"))
	}
	addSession(res, r.Session)
	if success && r.Session.Expires > 0 && r.Session.Supported && r.Session.Refresher == dialog.UAC {
		res.AppendHeader(sip.NewHeader("Require", "timer"))
	}
	if len(r.Unsupported) > 0 {
		res.AppendHeader(sip.NewHeader("Unsupported", strings.Join(r.Unsupported, ", ")))
	}
	if r.Warning != "" {
		res.AppendHeader(sip.NewHeader("Warning", r.Warning))
	}
	if r.RetryAfter > 0 {
		res.AppendHeader(sip.NewHeader("Retry-After", seconds(r.RetryAfter)))
	}
	return res
}

// plain is an answer to a request that belongs to no call. An empty agent is not told.
func plain(req *sip.Request, agent string, r refusal) *sip.Response {
	res := sip.NewResponseFromRequest(req, r.status, reasons[r.status], nil)
	if agent != "" {
		res.AppendHeader(sip.NewHeader("Server", agent))
	}
	for _, h := range r.headers {
		res.AppendHeader(h)
	}
	return res
}

func addBody(msg interface {
	AppendHeader(header sip.Header)
	SetBody(body []byte)
}, body []byte,
) {
	msg.AppendHeader(sip.NewHeader("Content-Type", mediaSDP))
	msg.SetBody(body)
}
