package sipua

import (
	"net/netip"
	"runtime/debug"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/leg"
	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/adapters/sipua/internal/transport"
	"github.com/callwright/callwright/sip/dialog"
)

// retryAfter is the Retry-After of every 503.
const retryAfter = 5 * time.Second

// pace waits until the source of a request may send it.
func (u *UA) pace(from netip.AddrPort) { u.sources.Wait(u.context, from.Addr()) }

// handle handles every request that arrives, in the goroutine that reads the connection.
func (u *UA) handle(req *sip.Request, tx *transport.ServerTx) {
	defer u.recovered(req, tx)
	from, err := netip.ParseAddrPort(req.Source())
	if err != nil {
		return // an answer would reach no one
	}
	byCaller := tx.Stack() == u.server
	malformed := message.Validate(req)
	var key dialogKey
	if malformed == nil {
		key = dialogKey{req.CallID().Value(), message.Tag(req.To().Params)}
		if l := u.registry.find(key); l != nil && key.localTag != "" {
			u.inDialog(l, key, req, tx)
			return
		}
	}
	switch {
	case byCaller && u.sources.Blocked(from.Addr()):
		if !u.registry.carries(from) {
			u.listener.Disconnect(from)
		}
	case malformed != nil:
		u.log.Debug("malformed request", "method", req.Method, "source", req.Source(), "status", malformed.Status)
		u.refuse(req, tx, *malformed)
	default:
		if byCaller {
			u.listener.Touch(from)
		}
		u.outOfDialog(from, key, req, tx)
	}
}

// recovered answers a request whose handling has panicked.
func (u *UA) recovered(req *sip.Request, tx *transport.ServerTx) {
	if p := recover(); p != nil {
		u.log.Error("panic while handling a request", "method", req.Method, "panic", p, "stack", string(debug.Stack()))
		u.refuse(req, tx, message.Refusal{Status: sip.StatusInternalServerError})
	}
}

// outOfDialog handles a request that belongs to no dialog of ours, in the order of RFC 3261, 8.2: method, headers, content.
// The machine of a call inspects the extensions that its INVITE requires, so that strangers do not learn of them.
func (u *UA) outOfDialog(from netip.AddrPort, key dialogKey, req *sip.Request, tx *transport.ServerTx) {
	refused := inspect(req)
	if refused == nil && req.Method != sip.INVITE && key.localTag == "" {
		refused = message.CheckRequire(req)
	}
	switch {
	case refused != nil:
		u.refuse(req, tx, *refused)
	case key.localTag != "":
		u.refuse(req, tx, message.Refusal{Status: sip.StatusCallTransactionDoesNotExists})
	case req.Method == sip.INVITE:
		u.invited(from, req, tx)
	case req.Method == sip.OPTIONS:
		u.options(from, req, tx)
	case req.Method == sip.REFER:
		u.refuse(req, tx, message.Refusal{Status: sip.StatusGlobalDecline})
	default:
		u.refuse(req, tx, message.Refusal{Status: sip.StatusCallTransactionDoesNotExists})
	}
}

// inspect refuses a request with a method that we do not allow, for a URI of an unknown scheme, or with a Contact that is none of SIP's.
func inspect(req *sip.Request) *message.Refusal {
	switch dialog.Method(req.Method) {
	case dialog.INVITE, dialog.ACK, dialog.BYE, dialog.CANCEL, dialog.OPTIONS, dialog.REFER, dialog.NOTIFY:
		if r := message.CheckScheme(req); r != nil {
			return r
		}
		return message.CheckContact(req)
	default:
		r := notAllowed(req.Method)
		return &r
	}
}

// refuse answers a request outside a dialog, and counts refusals. The response says as little as possible: the request may
// be a scanner's. An ACK gets no response.
func (u *UA) refuse(req *sip.Request, tx *transport.ServerTx, r message.Refusal) {
	if from, err := netip.ParseAddrPort(req.Source()); err == nil && isFaulty(req, r.Status) {
		u.countFaulty(tx.Stack(), from)
	}
	if req.IsAck() {
		return
	}
	if r.Status == sip.StatusServiceUnavailable {
		r.Headers = append(r.Headers, sip.NewHeader("Retry-After", message.Seconds(retryAfter)))
	}
	_ = tx.Respond(r.Response(req, ""))
}

// isFaulty reports whether a refusal counts against its source. Refused calls count by themselves, see rejectUnknown; requests that
// we cannot serve are not the source's fault; and a request within a dialog may belong to a call that a restart has ended.
func isFaulty(req *sip.Request, status int) bool {
	if to := req.To(); to != nil && message.Tag(to.Params) != "" {
		return false
	}
	return status >= 400 && status != sip.StatusForbidden &&
		status != sip.StatusInternalServerError && status != sip.StatusServiceUnavailable
}

// countFaulty counts a refused request against its source, unless the source is a server that we have connected to: those are
// our customers'.
func (u *UA) countFaulty(s *transport.Stack, from netip.AddrPort) {
	if s == u.server && u.sources.Faulty(from.Addr()) {
		u.logBlocked(from)
	}
}

func (u *UA) logBlocked(from netip.AddrPort) {
	u.log.Warn("a source is ignored for ten minutes: too many of its requests were refused, and none of its calls was admitted",
		"source", from.Addr().Unmap())
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

// options answers with our capabilities. It answers 503 while draining or not ready, and to a source that asks too often.
func (u *UA) options(from netip.AddrPort, req *sip.Request, tx *transport.ServerTx) {
	switch {
	case u.leaving.Load(), u.unready.Load(), u.registry.isDraining():
		u.refuse(req, tx, message.Refusal{Status: sip.StatusServiceUnavailable})
	case !u.sources.Probe(from.Addr()):
		u.refuse(req, tx, message.Refusal{Status: sip.StatusServiceUnavailable})
		u.countFaulty(tx.Stack(), from)
	default:
		u.refuse(req, tx, message.Refusal{Status: sip.StatusOK, Headers: []sip.Header{
			sip.NewHeader("Allow", dialog.Allow), sip.NewHeader("Accept", message.Accepted), sip.NewHeader("Supported", "timer"),
		}})
	}
}

// inDialog passes a request to its leg.
func (u *UA) inDialog(l *leg.Leg, key dialogKey, req *sip.Request, tx *transport.ServerTx) {
	var caller netip.AddrPort
	if from, err := netip.ParseAddrPort(req.Source()); err == nil && tx.Stack() == u.server {
		u.listener.Touch(from)
		caller = from
	}
	u.registry.moved(key, caller)
	if req.Method == sip.INFO && l.TakesInfo() {
		l.Inform(req, tx)
		return
	}
	if r := inspect(req); r != nil {
		u.refuse(req, tx, *r)
		l.Skip(req, r.Status)
		return
	}
	l.Request(req, tx)
}
