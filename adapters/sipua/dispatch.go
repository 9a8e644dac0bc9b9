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

// retryAfter is the Retry-After value of every 503.
const retryAfter = 5 * time.Second

// pace delays the reading of a connection until the rate limit of its source allows the next request.
func (u *UA) pace(from netip.AddrPort) { u.sources.Wait(u.context, from.Addr()) }

// handle handles every received request, in the goroutine that reads the connection.
func (u *UA) handle(req *sip.Request, tx *transport.ServerTx) {
	defer u.recovered(req, tx)
	from, err := netip.ParseAddrPort(req.Source())
	if err != nil {
		return // without an address, no response is possible
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

// recovered recovers from a panic during the handling of a request, logs it, and answers the request with 500.
func (u *UA) recovered(req *sip.Request, tx *transport.ServerTx) {
	if p := recover(); p != nil {
		u.log.Error("panic while handling a request", "method", req.Method, "panic", p, "stack", string(debug.Stack()))
		u.refuse(req, tx, message.Refusal{Status: sip.StatusInternalServerError})
	}
}

// outOfDialog handles a request that belongs to no known dialog. It checks the method, headers and content in the order of RFC 3261,
// section 8.2. The extensions that an INVITE requires are checked only after its admission, so that unknown callers do not learn which ones
// are supported.
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

// inspect returns a refusal for a method that is not supported, a URI with an unknown scheme, or an invalid Contact. It returns nil
// otherwise.
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

// refuse answers a request with r, and counts a refusal against the source if isFaulty returns true. The response contains as little
// information as possible, because the request may be a scanner's. An ACK receives no response.
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

// isFaulty reports whether a refusal counts against its source. A 403 does not, because rejectUnknown counts it, nor do 500 and 503, which
// are not the source's fault. A request with a To tag does not either, because it may belong to a call that a restart has ended.
func isFaulty(req *sip.Request, status int) bool {
	if to := req.To(); to != nil && message.Tag(to.Params) != "" {
		return false
	}
	return status >= 400 && status != sip.StatusForbidden &&
		status != sip.StatusInternalServerError && status != sip.StatusServiceUnavailable
}

// countFaulty counts a refused request against its source. It does not count requests from servers that we have connected to, because those
// belong to customers.
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

// options answers OPTIONS with the supported methods, content types and extensions. It answers 503 while the server drains or is not ready,
// and to a source that exceeds its rate limit.
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

// inDialog passes a request to the leg of its dialog, and records its connection as the one to use for that dialog.
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
