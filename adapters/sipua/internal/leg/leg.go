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

// Config configures a leg. All fields are required but OnOver and Refer.
type Config struct {
	Identity       message.Identity
	Route          trunk.Route
	Flow           *transport.Flow
	Log            *attempt.Log
	PublicMedia    bool          // media goes to public addresses only
	RedirectedTo   string        // see call.LegInfo
	SessionExpires time.Duration // that we ask for (RFC 4028); 0: no session timer
	OnEnd          func()        // is called once, when nothing of the leg is left
	OnOver         func(*Leg)    // is called once, after Done is closed; may be nil
	// Refer is called for the peer's REFER: Leg.Refer decides on it. It must not block. nil refuses all.
	Refer func(l *Leg, to callwright.PhoneNumber)

	callwright.Runtime
}

// Leg is one INVITE dialog: its state machine, and the means to carry out the machine's effects.
type Leg struct {
	id      message.Identity
	route   trunk.Route
	flow    *transport.Flow // used in the mailbox
	peer    string          // its address at first
	tls     string          // its TLS version at first
	moved   string          // see call.LegInfo.RedirectedTo
	log     *attempt.Log
	onEnd   func()
	onOver  func(*Leg)
	onRefer func(*Leg, callwright.PhoneNumber)
	logger  *slog.Logger
	media   *media
	digits  digits
	mailbox mailbox.Mailbox

	// Only functions in the mailbox use these.
	machine   dialog.Call
	timers    map[dialog.Timer]*timer
	inbox     inbox
	open      map[requestKey]arrival          // requests of the peer without a final response
	success   *sip.Response                   // our 2xx that waits for its ACK
	invite    *sip.Request                    // our last INVITE: for CANCEL and the ACK's credentials
	inviteTx  *sip.ClientTx                   // of invite
	answers   map[dialog.Method]*auth.Answers // to the challenges of the last request of each method
	extra     []sip.Header                    // that our first INVITE contains in addition
	early     map[string][]byte               // the answers in 1xx, by To tag; nil once the call is answered
	replies   inviteReplies                   // to our first INVITE
	onRinging func()                          // nil for inbound legs

	established chan struct{} // closed when both sides have answered
	done        chan struct{} // closed when the leg is over
	transferred chan dialog.Transferred
	transfer    sync.Mutex // one transfer at a time

	ending  call.HangupReason // set before done is closed
	outcome failover.Outcome  // likewise
}

// requestKey identifies a request of the peer.
type requestKey struct {
	method dialog.Method
	cseq   uint32
}

// timer is an armed timer of the machine. A stopped one may have posted its event already, so the event compares it.
type timer struct{ *time.Timer }

// New returns a leg on which nothing has happened yet. Dial or Incoming starts it.
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
	_, _ = rand.Read(b[:]) // it never fails
	return binary.LittleEndian.Uint64(b[:])
}

// post queues an event for the machine.
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

// refuse answers a request that the dialog's state does not allow, and ends a transfer that comes too early or too late.
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
	case dialog.Established:
		l.establish()
	case dialog.Negotiate:
		l.post(l.media.renegotiate(l.id.Via.Host))
	case dialog.Renegotiated:
		if err := l.media.accept(); err != nil {
			l.logger.Warn("the answer to our re-INVITE is unusable", "error", err)
			l.post(dialog.Hangup{Cause: dialog.NotAcceptable, Reason: "the answer to our re-INVITE is unusable"})
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

// referred passes the peer's REFER on, or refuses it.
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

// establish applies the peer's answer, if the last message carried one, and hands the call to its owner.
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
	default: // no one waits for it any more
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
		// An INVITE that was given up without a final response would live for ever: sipgo has no timer C.
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
