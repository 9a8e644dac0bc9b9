package leg

import (
	"crypto/rand"
	"encoding/binary"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/internal/attempt"
	"github.com/callwright/callwright/adapters/sipua/internal/auth"
	"github.com/callwright/callwright/adapters/sipua/internal/mailbox"
	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/adapters/sipua/internal/transport"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/sdp"
)

// Config configures a leg. All fields are required, except as noted.
type Config struct {
	Identity       message.Identity
	Route          trunk.Route
	Flow           *transport.Flow
	Log            *attempt.Log
	PublicMedia    bool          // send media to public addresses only
	RedirectedTo   string        // see call.LegInfo; may be empty
	SessionExpires time.Duration // requested session timer (RFC 4028); 0 means none
	OnEnd          func()        // called once at the end, before Done is closed
	OnOver         func(*Leg)    // called once after Done is closed; may be nil
	// Refer is called for a REFER of the peer, and must lead to a call of Leg.Refer. It must not block. If nil, every REFER is refused.
	Refer func(l *Leg, to callwright.PhoneNumber)

	callwright.Runtime
}

// Leg runs one INVITE dialog: it holds the dialog's state machine and executes the machine's effects.
type Leg struct {
	id      message.Identity
	route   trunk.Route
	flow    *transport.Flow // used only by functions that run in the mailbox
	peer    string          // address of the peer at the start
	tls     string          // TLS version of the connection at the start
	moved   string          // see call.LegInfo.RedirectedTo
	log     *attempt.Log
	onEnd   func()
	onOver  func(*Leg)
	onRefer func(*Leg, callwright.PhoneNumber)
	logger  *slog.Logger
	media   *media
	digits  digits
	mailbox mailbox.Mailbox

	// The following fields are used only in the mailbox.
	machine   dialog.Call
	timers    map[dialog.Timer]*timer
	inbox     inbox
	open      map[requestKey]arrival          // requests of the peer that await our final response
	success   *sip.Response                   // our 2xx that awaits its ACK
	invite    *sip.Request                    // our last INVITE, for CANCEL and for the credentials of the ACK
	inviteTx  *sip.ClientTx                   // transaction of invite
	answers   map[dialog.Method]*auth.Answers // to challenges, by the method of the request
	extra     []sip.Header                    // additional headers of our first INVITE
	early     map[string][]byte               // SDP of provisional responses, by To tag; nil after a 2xx with SDP
	replies   inviteReplies                   // to our first INVITE
	onRinging func()                          // called when the callee rings; nil for inbound legs
	onEarly   func()                          // called when the callee sends audio before its answer; may be nil

	established chan struct{} // closed when the call is established
	done        chan struct{} // closed when the leg has ended
	transferred chan dialog.Transferred
	transfer    sync.Mutex // locked while Transfer runs

	ending  call.HangupReason // set before done is closed
	outcome failover.Outcome  // set before done is closed
}

// requestKey identifies a request of the peer within the dialog.
type requestKey struct {
	method dialog.Method
	cseq   uint32
}

// timer is an armed timer of the machine. A stopped timer may already have posted its event. That event is ignored, because the stopped
// timer is then no longer the armed one.
type timer struct{ *time.Timer }

// New returns a leg that has neither sent nor received a message. Dial or Incoming starts it.
func New(cfg Config) *Leg {
	logger := cfg.Logger.With("sip_call_id", cfg.Identity.CallID)
	cfg.Identity.Info = cfg.Route.DTMF == trunk.DTMFInfo
	return &Leg{
		digits: digits{mode: cfg.Route.DTMF},
		id:     cfg.Identity, route: cfg.Route, flow: cfg.Flow, peer: cfg.Flow.Address().String(), tls: cfg.Flow.TLS(), moved: cfg.RedirectedTo, log: cfg.Log, onEnd: cfg.OnEnd,
		onOver: cfg.OnOver, onRefer: cfg.Refer, logger: logger,
		media: &media{
			log: logger, publicOnly: cfg.PublicMedia, proven: func() netip.Addr { return cfg.Flow.Address().Addr() },
		},
		machine: dialog.NewCall(dialog.Config{
			LocalTag: cfg.Identity.LocalTag, T1: sip.T1, T2: sip.T2, Session: cfg.SessionExpires, Seed: seed(),
		}),
		early: map[string][]byte{}, timers: map[dialog.Timer]*timer{}, open: map[requestKey]arrival{}, answers: map[dialog.Method]*auth.Answers{},
		replies:     inviteReplies{any: make(chan struct{})},
		established: make(chan struct{}), done: make(chan struct{}), transferred: make(chan dialog.Transferred, 1),
	}
}

func seed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}

// post queues an event of the state machine for the mailbox.
func (l *Leg) post(ev dialog.Event) { l.mailbox.Post(func() { l.apply(ev) }) }

// apply passes an event to the state machine and executes the resulting effects. It must run in the mailbox.
func (l *Leg) apply(ev dialog.Event) {
	phase := l.machine.Phase()
	next, effects, err := l.machine.Next(ev)
	if err != nil {
		l.logger.Debug("event refused", "error", err)
		l.refuse(ev)
		return
	}
	l.machine = next
	switch ev := ev.(type) {
	case dialog.Incoming:
		l.arrived(l.open[requestKey{dialog.INVITE, ev.CSeq}].req)
	case dialog.Hangup:
		if phase == dialog.Calling || phase == dialog.Proceeding {
			l.log.Note(ladder.NoteGivenUp, ev.Reason)
		}
	}
	for _, e := range effects {
		l.effect(e)
	}
}

// refuse answers a request with 481 if the dialog's state does not allow it. It fails a transfer that the state does not allow.
func (l *Leg) refuse(ev dialog.Event) {
	switch ev := ev.(type) {
	case dialog.Request:
		if ev.Method != dialog.ACK {
			l.respond(dialog.Respond{Method: ev.Method, CSeq: ev.CSeq, Status: sip.StatusCallTransactionDoesNotExists})
		}
	case dialog.Transfer:
		l.tellTransfer(dialog.Transferred{})
	}
}

func (l *Leg) effect(e dialog.Effect) {
	switch e := e.(type) {
	case dialog.Send:
		l.send(e)
	case dialog.Respond:
		l.respond(e)
	case dialog.Arm:
		l.arm(e.Timer, e.After)
	case dialog.Disarm:
		l.disarm(e.Timer)
	case dialog.Ringing:
		if l.onRinging != nil {
			l.onRinging()
		}
	case dialog.EarlyMedia:
		if l.onEarly != nil {
			l.onEarly()
		}
	case dialog.Established:
		l.establish()
	case dialog.Negotiate:
		l.post(l.media.renegotiate(l.id.Via.Host))
	case dialog.Renegotiated:
		if err := l.media.accept(); err != nil {
			l.logger.Warn("the answer to our re-INVITE is unusable", "error", err)
			l.post(dialog.Hangup{Cause: dialog.NotAcceptable, Reason: "the other side's SDP answer to our re-INVITE cannot be used"})
		}
	case dialog.Transferred:
		l.tellTransfer(e)
	case dialog.Referred:
		l.referred(l.open[requestKey{dialog.REFER, e.CSeq}].req)
	case dialog.StopMedia:
		l.media.close()
	case dialog.Ended:
		l.finish(e.Ending)
	}
}

// referred passes the peer's REFER to Config.Refer, or refuses it.
func (l *Leg) referred(req *sip.Request) {
	to, status, why := message.ReferTo(req)
	switch {
	case status != 0:
		l.Refer(status, why)
	case l.onRefer == nil:
		l.Refer(sip.StatusGlobalDecline, "")
	default:
		l.onRefer(l, to)
	}
}

// establish applies the SDP answer of the peer, if our offer awaits one, and closes the channel l.established. If the answer is unusable,
// establish hangs up instead.
func (l *Leg) establish() {
	if err := l.media.accept(); err != nil {
		l.logger.Warn("the answer is unusable", "error", err)
		l.post(dialog.Hangup{Cause: dialog.NotAcceptable, Reason: err.Error()})
		return
	}
	l.log.Answered()
	l.log.Note(ladder.NoteMediaStarted, l.media.codecName()+", "+sdp.Suite)
	close(l.established)
}

func (l *Leg) tellTransfer(t dialog.Transferred) {
	select {
	case l.transferred <- t:
	default: // the channel already holds a result that no caller awaits
	}
}

func (l *Leg) finish(why dialog.Ending) {
	l.ending = call.HangupReason{
		Cause: call.Cause(why.Cause), SIPCode: why.Status, Reason: why.Reason, ByPeer: why.ByPeer,
		Unconfirmed: why.Unconfirmed, Release: why.Release,
	}
	l.outcome = l.replies.outcome(why)
	if fault := l.media.statistics().Fault; fault != "" {
		l.log.Note(ladder.NoteMediaFault, fault)
	}
	l.log.Finish(l.callEnd(why))
	if tx := l.inviteTx; tx != nil {
		// The transaction of a canceled INVITE without a final response would never end, because sipgo implements no timer C.
		time.AfterFunc(64*sip.T1, tx.Terminate)
	}
	l.logger.Info("call ended", "cause", why.Cause, "status", why.Status, "by_peer", why.ByPeer, "reason", why.Reason)
	l.onEnd()
	close(l.done)
	if l.onOver != nil {
		l.onOver(l)
	}
}

func (l *Leg) arm(t dialog.Timer, after time.Duration) {
	l.disarm(t)
	armed := &timer{}
	l.timers[t] = armed
	armed.Timer = time.AfterFunc(after, func() {
		l.mailbox.Post(func() {
			if l.timers[t] == armed {
				delete(l.timers, t)
				l.apply(dialog.Fired{Timer: t})
			}
		})
	})
}

func (l *Leg) disarm(t dialog.Timer) {
	if armed := l.timers[t]; armed != nil {
		armed.Stop()
		delete(l.timers, t)
	}
}
