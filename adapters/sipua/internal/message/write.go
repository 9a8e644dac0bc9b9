package message

import (
	"fmt"
	"slices"
	"strings"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/sip/dialog"
)

const maxForwards = 70

// Transport is the transport protocol of all messages, in the form of the Via header.
const Transport = "TLS"

// Party holds the contents of a From or To header, which identify one end of a dialog.
type Party struct {
	Display string
	URI     sip.Uri
}

// Identity holds the values that all messages of a dialog share.
type Identity struct {
	CallID   string
	LocalTag string
	Local    Party
	Remote   Party
	Contact  sip.Uri
	Via      sip.Uri // host and port to which responses are sent
	Agent    string  // value of the headers User-Agent and Server
	Info     bool    // adds INFO to the Allow header
}

// allow returns the methods for the Allow header of the dialog.
func (id *Identity) allow() string {
	if id.Info {
		return dialog.Allow + ", " + string(sip.INFO)
	}
	return dialog.Allow
}

// Request builds a request without its body and without credentials. It returns an error if the Request-URI is malformed.
func (id *Identity) Request(s dialog.Send) (*sip.Request, error) {
	var target sip.Uri
	if err := sip.ParseUri(s.Via.RequestURI, &target); err != nil {
		return nil, fmt.Errorf("request URI: %w", err)
	}
	target.Headers = nil // not allowed in a Request-URI (RFC 3261, 19.1.5)
	req := sip.NewRequest(sip.RequestMethod(s.Method), target)
	req.SetTransport(Transport)
	via := &sip.ViaHeader{
		ProtocolName: "SIP", ProtocolVersion: "2.0", Transport: Transport, Host: id.Via.Host, Port: id.Via.Port,
	}
	via.Params.Add("branch", sip.GenerateBranchN(24))
	req.AppendHeader(via)
	for _, route := range s.Via.Routes {
		req.AppendHeader(sip.NewHeader("Route", "<"+route.URI+">"))
	}
	hops := sip.MaxForwardsHeader(maxForwards)
	callID := sip.CallIDHeader(id.CallID)
	from := &sip.FromHeader{DisplayName: id.Local.Display, Address: id.Local.URI}
	from.Params.Add("tag", id.LocalTag)
	to := &sip.ToHeader{DisplayName: id.Remote.Display, Address: id.Remote.URI}
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

// contact returns our Contact. If secured is set, it is a sips URI.
func (id *Identity) contact(secured bool) *sip.ContactHeader {
	address := *id.Contact.Clone()
	if secured {
		address.Scheme = sips
		address.UriParams = slices.DeleteFunc(address.UriParams, func(p sip.HeaderKV) bool { return p.K == "transport" })
	}
	return &sip.ContactHeader{Address: address}
}

const sips = "sips"

// isSecured reports whether the target or the first proxy of a request is a sips URI. Then the Contacts of both sides must be sips URIs,
// too (RFC 3261, 8.1.1.8 and 12.1.1).
func isSecured(target sip.Uri, routes []dialog.Route) bool {
	return strings.EqualFold(target.Scheme, sips) || len(routes) > 0 && isSIPS(routes[0].URI)
}

// asksForSecurity reports whether a peer's request requires our Contact to be a sips URI. Unlike isSecured, it also checks the request's
// Contact if no proxy is recorded.
func asksForSecurity(req *sip.Request) bool {
	routes, _ := recordedRoutes(req)
	return isSecured(req.Recipient, routes) || len(routes) == 0 && isSIPS(contactOf(req))
}

func isSIPS(uri string) bool {
	return len(uri) > len(sips) && strings.EqualFold(uri[:len(sips)+1], sips+":")
}

// extend adds the headers that depend on the method of a request, and User-Agent.
func (id *Identity) extend(req *sip.Request, s dialog.Send) {
	switch s.Method {
	case dialog.INVITE:
		req.AppendHeader(id.contact(isSecured(req.Recipient, s.Via.Routes)))
		req.AppendHeader(sip.NewHeader("Allow", id.allow()))
		req.AppendHeader(sip.NewHeader("Supported", "timer"))
		addSession(req, s.Session)
	case dialog.REFER:
		req.AppendHeader(id.contact(isSecured(req.Recipient, s.Via.Routes)))
		req.AppendHeader(sip.NewHeader("Refer-To", "<"+s.ReferTo+">"))
		req.AppendHeader(sip.NewHeader("Referred-By", "<"+id.Local.URI.String()+">"))
	case dialog.BYE:
		addReason(req, s.Why)
	case dialog.NOTIFY:
		req.AppendHeader(id.contact(isSecured(req.Recipient, s.Via.Routes)))
		extendNotify(req, s.Notify)
	default:
	}
	req.AppendHeader(sip.NewHeader("User-Agent", id.Agent))
}

// NewCancel builds the CANCEL of an INVITE. It copies the branch of the INVITE, but neither its Require headers nor its body (RFC 3261,
// 9.1).
func NewCancel(invite *sip.Request, why dialog.Cause) *sip.Request {
	req := sip.NewRequest(sip.CANCEL, invite.Recipient)
	req.SetTransport(Transport)
	req.AppendHeader(invite.Via().Clone())
	sip.CopyHeaders("Route", invite, req)
	hops := sip.MaxForwardsHeader(maxForwards)
	req.AppendHeader(&hops)
	sip.CopyHeaders("From", invite, req)
	sip.CopyHeaders("To", invite, req)
	sip.CopyHeaders("Call-ID", invite, req)
	req.AppendHeader(&sip.CSeqHeader{SeqNo: invite.CSeq().SeqNo, MethodName: sip.CANCEL})
	addReason(req, why)
	req.SetBody(nil)
	return req
}

func addSession(msg interface{ AppendHeader(header sip.Header) }, s dialog.Session) {
	if s.Expires > 0 {
		value := Seconds(s.Expires)
		if s.Refresher != "" {
			value += ";refresher=" + string(s.Refresher)
		}
		msg.AppendHeader(sip.NewHeader("Session-Expires", value))
	}
	if s.MinSE > 0 {
		msg.AppendHeader(sip.NewHeader("Min-SE", Seconds(s.MinSE)))
	}
}

// Response builds a response to a request, without its body.
func (id *Identity) Response(req *sip.Request, r dialog.Respond) *sip.Response {
	res := newResponse(req, r.Status)
	if to := res.To(); to != nil && r.Status > 100 {
		if !req.To().Params.Has("tag") {
			to.Params.Add("tag", id.LocalTag)
		}
	}
	res.AppendHeader(sip.NewHeader("Server", id.Agent))
	success := r.Status/100 == 2
	if r.Method == dialog.INVITE && (success || r.Status == 180) || r.Method == dialog.REFER && success {
		res.AppendHeader(id.contact(asksForSecurity(req)))
	}
	if r.Method == dialog.INVITE && success || r.Method == dialog.OPTIONS {
		res.AppendHeader(sip.NewHeader("Allow", id.allow()))
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
		res.AppendHeader(sip.NewHeader("Retry-After", Seconds(r.RetryAfter)))
	}
	return res
}

// AddSDP adds a session description as the body of a message.
func AddSDP(msg interface {
	AppendHeader(header sip.Header)
	SetBody(body []byte)
}, body []byte,
) {
	msg.AppendHeader(sip.NewHeader("Content-Type", SDP))
	msg.SetBody(body)
}
