package leg

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/adapters/sipua/internal/transport"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/sdp"
)

// causeInternal is call.CauseInternal for the state machine, whose package does not define this cause.
const causeInternal = dialog.Cause(call.CauseInternal)

// Invitation describes the first INVITE of an outbound leg.
type Invitation struct {
	Target  sip.Uri // the Request-URI
	Headers []sip.Header
	Audio   *Audio
	Codecs  []sdp.Codec
	Ring    time.Duration
	Ringing func() // called for the first 180, or the first 183 without a body
	Early   func() // called for a 183 with a body that arrives before these; may be nil
}

// Dial sends the first INVITE and returns immediately. Wait waits for the answer.
func (l *Leg) Dial(inv Invitation) {
	l.media.audio, l.media.codecs, l.media.transcode = inv.Audio, inv.Codecs, l.route.Transcode
	l.media.claims = true
	l.extra, l.onRinging, l.onEarly = inv.Headers, inv.Ringing, inv.Early
	l.mailbox.Post(func() {
		l.log.Begin()
		l.apply(dialog.Dial{Target: inv.Target.String(), Ring: inv.Ring})
	})
}

// Replied returns a channel that is closed by the first response to the first INVITE, even a 100.
func (l *Leg) Replied() <-chan struct{} { return l.replies.any }

// Outcome returns the result of an outbound leg, which determines failover. It must not be called before Done is closed.
func (l *Leg) Outcome() failover.Outcome { return l.outcome }

// Redirection describes the 3xx response that redirected a call.
type Redirection struct {
	Status   int
	Contacts []message.Contact // sorted by preference
	Peer     netip.AddrPort    // the server that sent the response
}

// Redirection returns the redirection that ended an outbound leg, or nil if there was none. It must not be called before Done is closed.
func (l *Leg) Redirection() *Redirection {
	if l.replies.code < 300 || l.replies.code >= 400 {
		return nil
	}
	peer, _ := netip.ParseAddrPort(l.peer)
	return &Redirection{Status: l.replies.code, Contacts: l.replies.contacts, Peer: peer}
}

// GiveUp cancels or ends the leg, and returns when the cancellation has been sent. The leg continues in the background until its dialog has
// ended: it acknowledges a late 2xx and sends BYE.
func (l *Leg) GiveUp(cause call.Cause, reason string) {
	begun := make(chan struct{})
	l.mailbox.Post(func() {
		l.apply(hangup(cause, reason))
		close(begun)
	})
	<-begun
}

// Incoming starts an inbound leg. The leg answers 100 and calls the function offered, unless it rejects the INVITE immediately.
func (l *Leg) Incoming(req *sip.Request, tx *transport.ServerTx, ring time.Duration, offered func()) {
	ev := message.ReadRequest(req)
	l.mailbox.Post(func() {
		l.inbox.last = ev.CSeq
		l.open[requestKey{dialog.INVITE, ev.CSeq}] = arrival{req: req, tx: tx, ev: ev}
		l.media.remoteSDP = message.Description(req)
		l.apply(dialog.Incoming{Request: ev, Ring: ring})
		if l.machine.Phase() == dialog.Offered {
			offered()
		}
	})
	if err := tx.Watch(l.cancelledBy, func() { l.post(dialog.Undelivered{}) }); err != nil {
		l.post(dialog.Undelivered{Cancelled: errors.Is(err, transport.ErrCanceled)})
	}
}

// arrived adds the connection and the INVITE of an inbound call to its log, and begins the call record.
func (l *Leg) arrived(invite *sip.Request) {
	l.log.Step(ladder.Event{
		Note: ladder.NoteConnected, Transport: l.tls, Peer: l.peer, Detail: l.flow.Security(),
	})
	l.received(invite, false)
	l.log.Begin()
}

// Admit passes a media session to an inbound leg, and waits until the leg has called deliver. If deliver returns false, Admit rejects the
// leg with refused. The leg owns the session. If the caller has already hung up, Admit closes the session and does not call deliver.
func (l *Leg) Admit(session trunk.MediaSession, codecs []sdp.Codec, deliver func() bool, refused dialog.Reject) {
	admitted := make(chan struct{})
	l.mailbox.Post(func() {
		defer close(admitted)
		if l.machine.Phase() != dialog.Offered {
			_ = session.Close()
			return
		}
		l.media.audio, l.media.codecs, l.media.transcode = NewAudio(session), codecs, l.route.Transcode
		if !deliver() {
			l.apply(refused)
		}
	})
	<-admitted
}

// Ring sends 180 Ringing to the caller of an inbound leg.
func (l *Leg) Ring() { l.post(dialog.Ring{}) }

// Reject rejects an inbound leg with a final response. It has no effect on a leg that has ended.
func (l *Leg) Reject(r dialog.Reject) { l.post(r) }

// Fail rejects an inbound leg with 500.
func (l *Leg) Fail() {
	l.post(dialog.Reject{Status: sip.StatusInternalServerError, Cause: causeInternal})
}

// Answer accepts an inbound leg and waits for the caller's ACK. If the leg ends first, it returns a *call.HangupReason. If ctx ends first,
// Answer ends the leg and returns a *call.HangupReason, too.
func (l *Leg) Answer(ctx context.Context) error {
	if ctx.Err() != nil {
		return l.abandon(givenUpBy(ctx))
	}
	l.mailbox.Post(func() {
		if l.machine.Phase() == dialog.Offered && len(l.media.remoteSDP) > 0 {
			if err := l.media.answer(); err != nil {
				l.logger.Warn("offer refused", "error", err)
				l.apply(reject(err, l.id.Via.Host))
				return
			}
		}
		l.apply(dialog.Answer{})
	})
	return l.Wait(ctx)
}

// Wait waits until the call is established. If the leg ends first, it returns a *call.HangupReason. If ctx ends first, Wait ends the leg
// and returns a *call.HangupReason. Its SIPCode is then the status of the final response, or of the last response if the final one takes
// too long.
func (l *Leg) Wait(ctx context.Context) error {
	select {
	case <-l.established:
		return nil
	case <-l.done:
	case <-ctx.Done():
		return l.abandon(givenUpBy(ctx))
	}
	select {
	case <-l.established: // the leg was answered before it ended
		return nil
	default:
		ending := l.ending
		return &ending
	}
}

// givenUpBy returns the reason for ending a call that is not yet established when its ctx ends: the cause of ctx if that is a
// *call.HangupReason, otherwise one with CauseCancelled.
func givenUpBy(ctx context.Context) call.HangupReason {
	if why, ok := errors.AsType[*call.HangupReason](context.Cause(ctx)); ok {
		return call.HangupReason{Cause: why.Cause, Reason: why.Reason}
	}
	return call.HangupReason{Cause: call.CauseCancelled, Reason: "the call was canceled before it was answered"}
}

// abandon ends the leg and returns why, with the SIP status of the call. It waits at most 3*T1 for the leg to end.
func (l *Leg) abandon(why call.HangupReason) *call.HangupReason {
	l.GiveUp(why.Cause, why.Reason)
	patience := time.NewTimer(3 * sip.T1)
	defer patience.Stop()
	select {
	case <-l.done:
		why.SIPCode, why.Release = l.ending.SIPCode, l.ending.Release
	case <-patience.C:
		heard := make(chan int, 1)
		l.mailbox.Post(func() { heard <- l.machine.LastStatus() })
		why.SIPCode = <-heard
	}
	return &why
}

func hangup(cause call.Cause, reason string) dialog.Hangup {
	return dialog.Hangup{Cause: dialog.Cause(cause), Reason: reason}
}
