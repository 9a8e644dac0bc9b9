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

// causeInternal is call.CauseInternal for the machine, which does not produce it.
const causeInternal = dialog.Cause(call.CauseInternal)

// Invitation describes the INVITE of an outbound leg.
type Invitation struct {
	Target  sip.Uri // Request-URI
	Headers []sip.Header
	Audio   *Audio
	Codecs  []sdp.Codec
	Ring    time.Duration
	Ringing func() // is called for each 180, and for each 183 without a body
}

// Dial sends the first INVITE.
func (l *Leg) Dial(inv Invitation) {
	l.media.audio, l.media.codecs, l.media.transcode = inv.Audio, inv.Codecs, l.route.Transcode
	l.media.claims = true
	l.extra, l.onRinging = inv.Headers, inv.Ringing
	l.mailbox.Post(func() {
		l.log.Begin()
		l.apply(dialog.Dial{Target: inv.Target.String(), Ring: inv.Ring})
	})
}

// Replied is closed by the first response to the first INVITE, 100 included.
func (l *Leg) Replied() <-chan struct{} { return l.replies.any }

// Outcome returns the result of an outbound leg, for failover. It is set once Done is closed.
func (l *Leg) Outcome() failover.Outcome { return l.outcome }

// Redirection is the response that redirected a call.
type Redirection struct {
	Status   int
	Contacts []message.Contact // the preferred ones first
	Peer     netip.AddrPort    // the server that sent it
}

// Redirection returns the targets of an outbound leg's redirection, once Done is closed; nil: there was none.
func (l *Leg) Redirection() *Redirection {
	if l.replies.code < 300 || l.replies.code >= 400 {
		return nil
	}
	peer, _ := netip.ParseAddrPort(l.peer)
	return &Redirection{Status: l.replies.code, Contacts: l.replies.contacts, Peer: peer}
}

// GiveUp ends a leg that is not wanted any more, and returns once it has begun to. The leg continues by itself until nothing of it
// is left at the peer: a late 2xx is acknowledged and followed by BYE.
func (l *Leg) GiveUp(cause call.Cause, reason string) {
	begun := make(chan struct{})
	l.mailbox.Post(func() {
		l.apply(hangup(cause, reason))
		close(begun)
	})
	<-begun
}

// Incoming starts an inbound leg, which answers 100 immediately. offered is called unless the INVITE is refused immediately.
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

// arrived adds the INVITE of an inbound call to its log, now that its trunk is known.
func (l *Leg) arrived(invite *sip.Request) {
	l.log.Step(ladder.Event{
		Note: ladder.NoteConnected, Transport: l.tls, Peer: l.peer, Detail: l.flow.Security(),
	})
	l.received(invite, false)
	l.log.Begin()
}

// Admit gives an inbound leg its media session and calls deliver, which reports whether the call will be answered; otherwise the
// leg is refused. The leg owns the session, even if the caller has given up meanwhile. Admit returns when all of this has happened.
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

// Ring lets the caller of an inbound leg hear ringing (180).
func (l *Leg) Ring() { l.post(dialog.Ring{}) }

// Reject refuses an inbound leg. A leg that is over stays unchanged.
func (l *Leg) Reject(r dialog.Reject) { l.post(r) }

// Fail refuses an inbound leg with 500.
func (l *Leg) Fail() {
	l.post(dialog.Reject{Status: sip.StatusInternalServerError, Cause: causeInternal})
}

// Answer accepts an inbound leg and waits for the caller's ACK.
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

// Wait waits until both sides have answered, or the leg is over: then its error is a *call.HangupReason. When ctx ends first,
// the leg is hung up, and the error has the status with which the call ends, or the last one before if that takes long.
func (l *Leg) Wait(ctx context.Context) error {
	select {
	case <-l.established:
		return nil
	case <-l.done:
	case <-ctx.Done():
		return l.abandon(givenUpBy(ctx))
	}
	select {
	case <-l.established: // answered and over in one go
		return nil
	default:
		ending := l.ending
		return &ending
	}
}

// givenUpBy returns the reason for which an unanswered call ends with its ctx.
func givenUpBy(ctx context.Context) call.HangupReason {
	if why, ok := errors.AsType[*call.HangupReason](context.Cause(ctx)); ok {
		return call.HangupReason{Cause: why.Cause, Reason: why.Reason}
	}
	return call.HangupReason{Cause: call.CauseCancelled, Reason: "given up"}
}

// abandon ends the leg and returns the reason, with the status of the call.
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
