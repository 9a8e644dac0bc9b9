package sipua

import (
	"errors"
	"net/netip"
	"net/url"
	"runtime/debug"
	"strings"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/header"
	"github.com/callwright/callwright/sip/sdp"
)

// handle takes every request that arrives, each in a goroutine of sipgo.
func (u *UA) handle(s *stack, req *sip.Request, tx *sip.ServerTx) {
	defer func() {
		if p := recover(); p != nil {
			u.log.Error("panic while handling a request", "method", req.Method, "panic", p, "stack", string(debug.Stack()))
			u.refuse(req, tx, refusal{status: sip.StatusInternalServerError})
		}
	}()
	source, err := netip.ParseAddrPort(req.Source())
	if err != nil {
		tx.Terminate() // nobody could be answered
		return
	}
	if s == u.server {
		u.listener.heard(source)
	}
	r := check(req)
	if r == nil {
		if tag := tagOf(req.To().Params); tag != "" {
			u.inDialog(dialogKey{req.CallID().Value(), tag}, req, tx)
			return
		}
	}
	switch {
	case s == u.server && u.sources.barred(source.Addr()):
		tx.Terminate()
		u.hangUpOn(source)
	case r != nil:
		u.log.Debug("malformed request", "method", req.Method, "source", req.Source(), "status", r.status)
		u.refuse(req, tx, *r)
	default:
		u.outOfDialog(s, source, req, tx)
	}
}

// outOfDialog takes a request that belongs to no call.
func (u *UA) outOfDialog(s *stack, source netip.AddrPort, req *sip.Request, tx *sip.ServerTx) {
	switch req.Method {
	case sip.INVITE:
		u.incoming(s, source, req, tx)
	case sip.ACK:
		tx.Terminate()
	case sip.OPTIONS:
		u.options(req, tx)
	case sip.BYE, sip.CANCEL, sip.NOTIFY:
		u.refuse(req, tx, refusal{status: sip.StatusCallTransactionDoesNotExists})
	case sip.REFER:
		u.refuse(req, tx, refusal{status: sip.StatusGlobalDecline})
	default:
		u.refuse(req, tx, notAllowed(req.Method))
	}
}

// refuse answers a request that belongs to no call, and says as little as it can: it may come from a scanner. An ACK is
// never answered.
func (u *UA) refuse(req *sip.Request, tx *sip.ServerTx, r refusal) {
	if req.IsAck() {
		tx.Terminate()
		return
	}
	if r.status == sip.StatusServiceUnavailable {
		r.headers = append(r.headers, sip.NewHeader("Retry-After", seconds(retryAfter)))
	}
	_ = tx.Respond(plain(req, "", r))
}

// notAllowed tells a method that SIP knows from one that it does not.
func notAllowed(m sip.RequestMethod) refusal {
	switch m {
	case sip.INFO, sip.UPDATE, sip.PRACK, sip.MESSAGE, sip.SUBSCRIBE, sip.PUBLISH, sip.REGISTER:
		return refusal{status: sip.StatusMethodNotAllowed, headers: []sip.Header{sip.NewHeader("Allow", dialog.Allow)}}
	default:
		return refusal{status: sip.StatusNotImplemented}
	}
}

// options says what we can do, or that we are about to go.
func (u *UA) options(req *sip.Request, tx *sip.ServerTx) {
	u.mu.Lock()
	draining := u.draining
	u.mu.Unlock()
	if draining {
		u.refuse(req, tx, refusal{status: sip.StatusServiceUnavailable})
		return
	}
	u.refuse(req, tx, refusal{status: sip.StatusOK, headers: []sip.Header{
		sip.NewHeader("Allow", dialog.Allow), sip.NewHeader("Accept", mediaSDP), sip.NewHeader("Supported", "timer"),
	}})
}

// inDialog gives a request to its call.
func (u *UA) inDialog(key dialogKey, req *sip.Request, tx *sip.ServerTx) {
	u.mu.Lock()
	c := u.calls[key]
	u.mu.Unlock()
	switch dialog.Method(req.Method) {
	case dialog.INVITE, dialog.ACK, dialog.BYE, dialog.CANCEL, dialog.OPTIONS, dialog.REFER, dialog.NOTIFY:
	default:
		r := notAllowed(req.Method)
		u.refuse(req, tx, r)
		if c != nil {
			c.box.post(func() {
				c.replied(req, r.status)
				c.deliver(c.inbox.skip(req.CSeq().SeqNo))
			})
		}
		return
	}
	if req.IsAck() {
		tx.Terminate() // it has no response, so sipgo would keep its transaction for ever
	}
	if c == nil {
		if !req.IsAck() {
			u.refuse(req, tx, refusal{status: sip.StatusCallTransactionDoesNotExists})
		}
		return
	}
	a := arrival{req: req, tx: tx, ev: readRequest(req)}
	c.box.post(func() { c.request(a) })
}

// identityOf is who we are in a call that comes in.
func (u *UA) identityOf(v visit) identity {
	req, contact := v.req, *u.contact.Clone()
	if v.flow.stack != u.server {
		contact = u.contactOver(v.tx.Connection())
	}
	to, from := req.To(), req.From()
	contact.User = req.Recipient.User
	return identity{
		callID: req.CallID().Value(), localTag: token(), contact: contact, via: u.contact, agent: u.config.UserAgent,
		local:  party{display: to.DisplayName, uri: to.Address},
		remote: party{display: from.DisplayName, uri: from.Address},
	}
}

// accept starts the machine of an inbound call, which answers 100 at once.
func (c *phonecall) accept(req *sip.Request, tx *sip.ServerTx, to callwright.PhoneNumber) {
	early := !tx.OnCancel(c.cancelledBy)
	tx.OnTerminate(func(_ string, err error) {
		if err != nil && !errors.Is(err, sip.ErrTransactionTerminated) {
			c.post(dialog.Undelivered{Cancelled: errors.Is(err, sip.ErrTransactionCanceled)})
		}
	})
	ev := readRequest(req)
	c.box.post(func() {
		c.inbox.last = ev.CSeq
		c.open[requestKey{dialog.INVITE, ev.CSeq}] = arrival{req: req, tx: tx, ev: ev}
		c.media.hear(req.Body())
		c.apply(dialog.Incoming{Request: ev, Ring: c.ua.config.Ring})
		if c.machine.Phase() == dialog.Offered {
			c.ua.wg.Go(func() { c.admit(req, to) })
		}
	})
	if early {
		c.post(dialog.Undelivered{Cancelled: true})
	}
}

// admit gives the call its media, and hands it to whoever accepts.
func (c *phonecall) admit(req *sip.Request, to callwright.PhoneNumber) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panic while admitting a call", "panic", p, "stack", string(debug.Stack()))
			c.post(dialog.Reject{Status: sip.StatusInternalServerError, Cause: causeInternal})
		}
	}()
	adm, why := c.consider(req, to)
	if why != nil {
		c.post(*why)
		return
	}
	handed := make(chan struct{})
	c.box.post(func() {
		defer close(handed)
		if c.machine.Phase() != dialog.Offered { // the caller has gone meanwhile
			_ = adm.session.Close()
			return
		}
		c.media.session, c.media.codecs, c.media.transcode = adm.session, adm.codecs, c.route.Transcode
		select {
		case c.ua.pending <- &pending{c: c, offer: adm.offer}:
		default: // as many wait as calls are allowed
			c.apply(dialog.Reject{Status: sip.StatusServiceUnavailable, Cause: dialog.Overload, RetryAfter: retryAfter})
		}
	})
	<-handed // so that Close leaves no media behind
}

// admission is what a call gets when it may come in.
type admission struct {
	offer   call.Offer
	session trunk.MediaSession
	codecs  []sdp.Codec
}

// consider checks what a call offers, and only then takes a port.
func (c *phonecall) consider(req *sip.Request, to callwright.PhoneNumber) (*admission, *dialog.Reject) {
	codecs, err := codecsOf(c.route.Codecs)
	if err != nil {
		c.log.Error("route", "error", err)
		return nil, &dialog.Reject{Status: sip.StatusInternalServerError, Cause: causeInternal}
	}
	if why := c.offerRefused(req.Body(), codecs); why != nil {
		return nil, why
	}
	session, err := c.ua.config.Media.Open(c.ua.context)
	if err != nil {
		c.log.Warn("no media for a call", "error", err)
		return nil, &dialog.Reject{Status: sip.StatusServiceUnavailable, Cause: dialog.Overload, RetryAfter: retryAfter}
	}
	return &admission{session: session, codecs: codecs, offer: call.Offer{
		ID: c.entry.record.ID, Org: c.route.Org, TrunkID: c.route.TrunkID, From: callerOf(req), To: to,
		Source: c.flow.address.String(), Headers: customHeaders(req),
		Variables: header.Inbound(c.route.Headers, headersOf(req)),
	}}, nil
}

// causeInternal is call.CauseInternal for the machine, which has no use for it by itself.
const causeInternal = dialog.Cause(call.CauseInternal)

// offerRefused tries the negotiation before a port is taken. An INVITE without an offer gets one from us.
func (c *phonecall) offerRefused(body []byte, codecs []sdp.Codec) *dialog.Reject {
	if len(body) == 0 {
		return nil
	}
	offer, err := sdp.Parse(body)
	if err == nil {
		// Addresses of the documentation stand for the port that is not taken yet, of one family or the other.
		for _, place := range []string{"192.0.2.1:2", "[2001:db8::1]:2"} {
			_, _, err = sdp.Answer(sdp.Capabilities{Media: netip.MustParseAddrPort(place), Codecs: codecs}, offer)
			if !errors.Is(err, sdp.ErrAddress) {
				break
			}
		}
	}
	if err == nil {
		return nil
	}
	r := refusalOf(err)
	return &dialog.Reject{
		Status: r.Status, Cause: dialog.NotAcceptable, Reason: r.Text, Warning: warning(r, c.ua.contact.Host),
	}
}

// calledNumber is the number in the Request-URI, else the one in To.
func calledNumber(req *sip.Request) (callwright.PhoneNumber, error) {
	if n, err := numberIn(&req.Recipient); err == nil {
		return n, nil
	}
	return numberIn(&req.To().Address)
}

func numberIn(u *sip.Uri) (callwright.PhoneNumber, error) {
	text := u.User
	if u.Scheme == "tel" {
		text = strings.NewReplacer("-", "", ".", "", "(", "", ")", "").Replace(u.Raw()) // RFC 3966, 5.1.1
	}
	text, _, _ = strings.Cut(text, ";")
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	return callwright.ParsePhoneNumber(text)
}

// callerOf is the caller as From names it: as E.164 where it is.
func callerOf(req *sip.Request) string {
	from := &req.From().Address
	if n, err := numberIn(from); err == nil {
		return n.String()
	}
	return printable(from.User)
}

const userToUser = "User-to-User"

// customHeaders are the headers that mean something to applications only.
func customHeaders(req *sip.Request) map[string]string {
	var custom map[string]string
	for _, h := range req.Headers() {
		if isCustom(h.Name()) && len(h.Name())+len(h.Value()) <= maxHeader {
			if custom == nil {
				custom = map[string]string{}
			}
			custom[h.Name()] = h.Value()
		}
	}
	return custom
}

// headersOf are all headers of a request, for a trunk's rules.
func headersOf(req *sip.Request) []header.Header {
	headers := make([]header.Header, 0, len(req.Headers()))
	for _, h := range req.Headers() {
		headers = append(headers, header.Header{Name: h.Name(), Value: h.Value()})
	}
	return headers
}

func isCustom(name string) bool {
	return len(name) > 2 && strings.EqualFold(name[:2], "X-") || strings.EqualFold(name, userToUser)
}
