package sipua

import (
	"net/netip"
	"runtime/debug"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/adapters/sipua/internal/transport"
	"github.com/callwright/callwright/sip/dialog"
)

// retryAfter stands in every 503.
const retryAfter = 5 * time.Second

// handle handles every request that arrives, each in a goroutine of sipgo.
func (u *UA) handle(s *transport.Stack, req *sip.Request, tx *sip.ServerTx) {
	defer func() {
		if p := recover(); p != nil {
			u.log.Error("panic while handling a request", "method", req.Method, "panic", p, "stack", string(debug.Stack()))
			u.refuse(req, tx, message.Refusal{Status: sip.StatusInternalServerError})
		}
	}()
	from, err := netip.ParseAddrPort(req.Source())
	if err != nil {
		tx.Terminate() // nobody could be answered
		return
	}
	byCaller := s == u.server
	if byCaller {
		u.listener.Touch(from)
	}
	malformed := message.Validate(req)
	if malformed == nil {
		if tag := message.Tag(req.To().Params); tag != "" {
			u.inDialog(dialogKey{req.CallID().Value(), tag}, req, tx)
			return
		}
	}
	switch {
	case byCaller && u.sources.Blocked(from.Addr()):
		tx.Terminate()
		if !u.registry.carries(from) {
			u.listener.Drop(from)
		}
	case malformed != nil:
		u.log.Debug("malformed request", "method", req.Method, "source", req.Source(), "status", malformed.Status)
		u.refuse(req, tx, *malformed)
	default:
		u.outOfDialog(s, from, req, tx)
	}
}

// outOfDialog handles a request that belongs to no dialog, in the order of RFC 3261, 8.2: method, headers, content. The
// machine of a call inspects the extensions that its INVITE requires, so that strangers do not learn of them.
func (u *UA) outOfDialog(s *transport.Stack, from netip.AddrPort, req *sip.Request, tx *sip.ServerTx) {
	refused := inspect(req)
	if refused == nil && req.Method != sip.INVITE {
		refused = message.CheckRequire(req)
	}
	switch {
	case refused != nil:
		u.refuse(req, tx, *refused)
	case req.Method == sip.INVITE:
		u.invited(s, from, req, tx)
	case req.Method == sip.OPTIONS:
		u.options(req, tx)
	case req.Method == sip.REFER:
		u.refuse(req, tx, message.Refusal{Status: sip.StatusGlobalDecline})
	default:
		u.refuse(req, tx, message.Refusal{Status: sip.StatusCallTransactionDoesNotExists})
	}
}

// inspect refuses a request with a method that we do not allow, or for a URI of an unknown scheme.
func inspect(req *sip.Request) *message.Refusal {
	switch dialog.Method(req.Method) {
	case dialog.INVITE, dialog.ACK, dialog.BYE, dialog.CANCEL, dialog.OPTIONS, dialog.REFER, dialog.NOTIFY:
		return message.CheckScheme(req)
	default:
		r := notAllowed(req.Method)
		return &r
	}
}

// refuse answers a request outside a dialog. The response says as little as possible: the request may be a scanner's. An
// ACK gets no response.
func (u *UA) refuse(req *sip.Request, tx *sip.ServerTx, r message.Refusal) {
	if req.IsAck() {
		tx.Terminate()
		return
	}
	if r.Status == sip.StatusServiceUnavailable {
		r.Headers = append(r.Headers, sip.NewHeader("Retry-After", message.Seconds(retryAfter)))
	}
	_ = tx.Respond(r.Response(req, ""))
}

// notAllowed returns 405 for a method that SIP defines, and 501 for any other.
func notAllowed(m sip.RequestMethod) message.Refusal {
	switch m {
	case sip.INFO, sip.UPDATE, sip.PRACK, sip.MESSAGE, sip.SUBSCRIBE, sip.PUBLISH, sip.REGISTER:
		return message.Refusal{
			Status: sip.StatusMethodNotAllowed, Headers: []sip.Header{sip.NewHeader("Allow", dialog.Allow)},
		}
	default:
		return message.Refusal{Status: sip.StatusNotImplemented}
	}
}

// options answers with what we support, or 503 while draining.
func (u *UA) options(req *sip.Request, tx *sip.ServerTx) {
	if u.registry.isDraining() {
		u.refuse(req, tx, message.Refusal{Status: sip.StatusServiceUnavailable})
		return
	}
	u.refuse(req, tx, message.Refusal{Status: sip.StatusOK, Headers: []sip.Header{
		sip.NewHeader("Allow", dialog.Allow), sip.NewHeader("Accept", message.SDP), sip.NewHeader("Supported", "timer"),
	}})
}

// inDialog passes a request to its leg.
func (u *UA) inDialog(key dialogKey, req *sip.Request, tx *sip.ServerTx) {
	l := u.registry.find(key)
	if r := inspect(req); r != nil {
		u.refuse(req, tx, *r)
		if l != nil {
			l.Skip(req, r.Status)
		}
		return
	}
	if req.IsAck() {
		tx.Terminate() // it has no response, so sipgo would keep its transaction for ever
	}
	switch {
	case l != nil:
		l.Request(req, tx)
	case !req.IsAck():
		u.refuse(req, tx, message.Refusal{Status: sip.StatusCallTransactionDoesNotExists})
	}
}
