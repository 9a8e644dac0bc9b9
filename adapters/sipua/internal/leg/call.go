package leg

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/sdp"
	"github.com/callwright/callwright/sip/uri"
)

// transferTimeout is the maximum wait for the result of a transfer, during which the other phone may ring.
const transferTimeout = 90 * time.Second

var _ call.Leg = (*Leg)(nil)

// Rate returns the sample rate of the audio, in samples per second.
func (l *Leg) Rate() int { return l.media.audio.session.Rate() }

// Read waits for the next 20 ms of the peer's audio. If the media times out, it hangs up and returns io.EOF.
func (l *Leg) Read(ctx context.Context) (conversation.Frame, error) {
	f, err := l.media.audio.session.Read(ctx)
	if errors.Is(err, trunk.ErrMediaTimeout) {
		why := "the other side's audio stopped"
		if l.Stats().Received == 0 {
			why = "no audio came from the other side"
		}
		l.post(hangup(call.CauseMediaTimeout, why))
		return conversation.Frame{}, io.EOF
	}
	if err == nil {
		f.Digit = l.digits.frame(f.Digit, f.In, l.Rate())
	}
	return conversation.Frame(f), err
}

// Write queues samples for playback, and waits while more than 200 ms are queued.
func (l *Leg) Write(ctx context.Context, samples []int16) error {
	return l.media.audio.session.Write(ctx, samples)
}

// Queued returns the number of queued samples that are not yet played.
func (l *Leg) Queued() int { return l.media.audio.session.Queued() }

// Flush discards the queued samples and returns their number.
func (l *Leg) Flush() int { return l.media.audio.session.Flush() }

// PlayBackground mixes a loop into all audio to the peer. It does nothing if the media cannot mix.
func (l *Leg) PlayBackground(loop []int16) {
	if p, ok := l.media.audio.session.(trunk.BackgroundPlayer); ok {
		p.PlayBackground(loop)
	}
}

// SendDTMF sends digits after the queued audio, and waits until they are sent.
func (l *Leg) SendDTMF(ctx context.Context, digits string) error {
	return l.media.audio.session.SendDTMF(ctx, digits)
}

// Info describes the media and the connection of the call.
func (l *Leg) Info() call.LegInfo {
	return call.LegInfo{
		SIPCallID: message.Text(l.id.CallID), Peer: l.peer, Codec: l.media.codecName(), SRTPSuite: sdp.Suite,
		TLS: l.tls, RedirectedTo: l.moved,
	}
}

// Transfer sends REFER, so that the peer calls a number or URI in our place, and waits for the result. It returns CodeBadRequest for an
// invalid number or URI, CodeUnavailable if the transfer fails, and CodeConflict if another transfer is running. If ctx ends first, the
// peer may still transfer the call.
func (l *Leg) Transfer(ctx context.Context, to string) error {
	target, err := l.transferTarget(to)
	if err != nil {
		return err
	}
	if !l.transfer.TryLock() {
		return callwright.Errorf(callwright.CodeConflict, "another transfer of this call is running: wait for its result")
	}
	defer l.transfer.Unlock()
	select {
	case <-l.transferred: // discards the late result of an earlier transfer
	default:
	}
	l.post(dialog.Transfer{To: target, Wait: transferTimeout})
	select {
	case t := <-l.transferred:
		return transferError(t)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func transferError(t dialog.Transferred) error {
	switch {
	case t.OK:
		return nil
	case t.Status == 0 && t.Accepted:
		return callwright.Errorf(callwright.CodeUnavailable, "the peer accepted the transfer (REFER), but reported no result (NOTIFY)")
	case t.Status == 0:
		return callwright.Errorf(callwright.CodeUnavailable, "the peer reported no result of the transfer")
	default:
		return callwright.Errorf(callwright.CodeUnavailable, "the transfer was answered with status %d", t.Status)
	}
}

// transferTarget returns the Refer-To for a number at the peer's host, or for a URI unchanged. Some peers accept only tel URIs, others only
// sip URIs.
func (l *Leg) transferTarget(to string) (string, error) {
	if n, err := callwright.ParsePhoneNumber(to); err == nil {
		u := sip.Uri{Scheme: "sip", User: n.String(), Host: l.id.Remote.URI.Host, Port: l.id.Remote.URI.Port}
		for _, server := range l.route.Servers { // the To of an outbound call contains no port (RFC 3261, 19.1.1)
			if server.Host == u.Host {
				u.Port = int(server.Port)
			}
		}
		return u.String(), nil
	}
	u, err := uri.Parse(to)
	if err != nil {
		return "", callwright.Invalid("to", "must be an E.164 number or a sip, sips or tel URI")
	}
	return u.String(), nil
}

// Refer answers the REFER of the peer that Config.Refer received. In later calls it reports the progress of the call to the target. warning
// is the reason for a refusal, and may be empty.
func (l *Leg) Refer(status int, warning string) {
	if warning != "" {
		warning = message.Warning(l.id.Via.Host, warning)
	}
	l.post(dialog.Referral{Status: status, Warning: warning})
}

// Lend returns the leg's audio. The leg to the target of a transfer takes over this audio when it applies its SDP answer. The caller must
// call Audio.Return when the transfer has succeeded or failed.
func (l *Leg) Lend() *Audio {
	l.media.audio.lendSession()
	return l.media.audio
}

// Route returns the route of the call.
func (l *Leg) Route() trunk.Route { return l.route }

// Hangup ends the call and waits until the peer has confirmed or ctx ends.
func (l *Leg) Hangup(ctx context.Context) error {
	l.End(call.HangupReason{Cause: call.CauseLocalHangup})
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// End hangs up for a reason and returns immediately.
func (l *Leg) End(why call.HangupReason) { l.post(hangup(why.Cause, why.Reason)) }

// Close hangs up with CauseDrained, because the user agent is closing. It returns immediately.
func (l *Leg) Close() { l.post(hangup(call.CauseDrained, "the server is stopping")) }

// Done returns a channel that is closed when the call has ended.
func (l *Leg) Done() <-chan struct{} { return l.done }

// Ending returns the reason for the end of the call, or the zero value if Done is not closed.
func (l *Leg) Ending() call.HangupReason {
	select {
	case <-l.done:
		return l.ending
	default:
		return call.HangupReason{}
	}
}

// Stats returns the media statistics. They are final once Done is closed.
func (l *Leg) Stats() call.Stats { return l.media.statistics() }
