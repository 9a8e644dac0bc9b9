package sipua

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/sdp"
	"github.com/callwright/callwright/sip/uri"
)

// transferTimeout is how long a peer may take to say how a transfer went: the other phone may ring for long.
const transferTimeout = 90 * time.Second

// leg is an answered call.
type leg struct{ c *phonecall }

var _ call.Leg = (*leg)(nil)

// Rate is the samples a second.
func (l *leg) Rate() int { return l.c.media.session.Rate() }

// Read waits for the next 20 ms. A peer that has vanished from the wire ends the call.
func (l *leg) Read(ctx context.Context) (conversation.Frame, error) {
	f, err := l.c.media.session.Read(ctx)
	if errors.Is(err, trunk.ErrMediaTimeout) {
		l.c.post(hangup(call.CauseMediaTimeout, "the peer sends no audio any more"))
		return conversation.Frame{}, io.EOF
	}
	return conversation.Frame(f), err
}

// Write queues speech.
func (l *leg) Write(ctx context.Context, samples []int16) error {
	return l.c.media.session.Write(ctx, samples)
}

// Queued is what waits to be played.
func (l *leg) Queued() int { return l.c.media.session.Queued() }

// Flush drops what waits to be played.
func (l *leg) Flush() int { return l.c.media.session.Flush() }

// SendDTMF plays digits.
func (l *leg) SendDTMF(ctx context.Context, digits string) error {
	return l.c.media.session.SendDTMF(ctx, digits)
}

// Info says how the call is carried.
func (l *leg) Info() call.LegInfo {
	return call.LegInfo{
		SIPCallID: l.c.id.callID, Peer: l.c.flow.address.String(), Codec: l.c.media.codec(), SRTPSuite: sdp.Suite,
		TLS: l.c.flow.tls,
	}
}

// Transfer asks the peer to call a number or URI in our place. When ctx ends first the peer may still do so.
func (l *leg) Transfer(ctx context.Context, to string) error {
	target, err := l.c.transferTarget(to)
	if err != nil {
		return err
	}
	if !l.c.transfer.TryLock() {
		return callwright.Errorf(callwright.CodeConflict, "a transfer is under way")
	}
	defer l.c.transfer.Unlock()
	select {
	case <-l.c.transferred: // of one that nobody waited for any more
	default:
	}
	l.c.post(dialog.Transfer{To: target, Wait: transferTimeout})
	select {
	case t := <-l.c.transferred:
		return transferError(t)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func transferError(t dialog.Transferred) error {
	switch {
	case t.OK:
		return nil
	case t.Status == 0:
		return callwright.Errorf(callwright.CodeUnavailable, "the transfer failed: no word from the peer")
	default:
		return callwright.Errorf(callwright.CodeUnavailable, "the transfer failed with status %d", t.Status)
	}
}

// transferTarget is the Refer-To of a number, at the peer's own host, or of a URI as it is: some peers take tel only,
// others sip only, and who configures a transfer knows which.
func (c *phonecall) transferTarget(to string) (string, error) {
	if n, err := callwright.ParsePhoneNumber(to); err == nil {
		u := sip.Uri{Scheme: "sip", User: n.String(), Host: c.id.remote.uri.Host, Port: c.id.remote.uri.Port}
		for _, server := range c.route.Servers { // the To of a call out has no port (RFC 3261, 19.1.1)
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

// Hangup ends the call and waits until the peer has confirmed.
func (l *leg) Hangup(ctx context.Context) error {
	l.c.post(hangup(call.CauseLocalHangup, ""))
	select {
	case <-l.c.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Done is closed when the call is over.
func (l *leg) Done() <-chan struct{} { return l.c.done }

// Ending says why the call is over; the zero Ending before Done.
func (l *leg) Ending() call.Ending {
	select {
	case <-l.c.done:
		return l.c.ending
	default:
		return call.Ending{}
	}
}

// Stats are the media's counts.
func (l *leg) Stats() call.Stats { return l.c.media.counted() }

// tlsName is a TLS version for people.
func tlsName(s tls.ConnectionState) string {
	if s.Version == 0 {
		return ""
	}
	return tls.VersionName(s.Version)
}
