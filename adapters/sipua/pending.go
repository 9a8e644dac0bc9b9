package sipua

import (
	"context"
	"fmt"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/sip/dialog"
)

// pending is an inbound call that waits for its answer.
type pending struct {
	c     *phonecall
	offer call.Offer
}

var _ call.Pending = (*pending)(nil)

// Accept gives the next inbound call and lets its caller hear ringing. Callers that have gone again are skipped.
func (u *UA) Accept(ctx context.Context) (call.Pending, error) {
	for {
		select {
		case p := <-u.pending:
			select {
			case <-p.c.done:
				continue
			default:
			}
			p.c.post(dialog.Ring{})
			return p, nil
		case <-u.context.Done():
			return nil, errClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Offer says who calls whom.
func (p *pending) Offer() call.Offer { return p.offer }

// Answer takes the call and waits for the caller's ACK.
func (p *pending) Answer(ctx context.Context) (call.Leg, error) {
	c := p.c
	c.box.post(func() {
		if c.machine.Phase() == dialog.Offered && len(c.media.heard) > 0 {
			if err := c.media.answer(); err != nil {
				c.log.Warn("the offer can't be answered", "error", err)
				r := refusalOf(err)
				c.apply(dialog.Reject{
					Status: r.Status, Cause: dialog.NotAcceptable, Reason: r.Text, Warning: warning(r, c.ua.contact.Host),
				})
				return
			}
		}
		c.apply(dialog.Answer{})
	})
	return c.leg(ctx)
}

// leg waits until a call is answered on both sides, or over. When ctx ends first, the call is hung up.
func (c *phonecall) leg(ctx context.Context) (call.Leg, error) {
	select {
	case <-c.established:
		return &leg{c: c}, nil
	case <-c.done:
	case <-ctx.Done():
		c.post(hangup(call.CauseCancelled, "given up"))
		return nil, &call.Ending{Cause: call.CauseCancelled, Reason: "given up"}
	}
	select {
	case <-c.established: // answered and over in one go
		return &leg{c: c}, nil
	default:
		ending := c.ending
		return nil, &ending
	}
}

func hangup(cause call.Cause, reason string) dialog.Hangup {
	return dialog.Hangup{Cause: dialog.Cause(cause), Reason: reason}
}

// rejections are the answers for the causes that a call may be refused with.
var rejections = map[call.Cause]int{
	call.CauseBusy:        sip.StatusBusyHere,
	call.CauseRejected:    sip.StatusGlobalDecline,
	call.CauseUnavailable: sip.StatusTemporarilyUnavailable,
	call.CauseOverload:    sip.StatusServiceUnavailable,
}

// Reject refuses the call. One that is over already stays as it is.
func (p *pending) Reject(cause call.Cause) error {
	status, ok := rejections[cause]
	if !ok {
		return callwright.Invalid("cause", "a call can't be refused with %q", cause)
	}
	r := dialog.Reject{Status: status, Cause: dialog.Cause(cause), Reason: fmt.Sprintf("refused with %d", status)}
	if cause == call.CauseOverload {
		r.RetryAfter = retryAfter
	}
	p.c.post(r)
	return nil
}
