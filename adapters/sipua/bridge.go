package sipua

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/callwright/callwright/adapters/sipua/internal/leg"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

// maxTransfers bounds the transfers by the peers of one call: each rings at a phone.
const maxTransfers = 10

// bridge is a call as its owner sees it: the leg to the peer and, once the peer has transferred us (REFER), the leg to the
// target. The audio goes over from one leg to the next (leg.Audio).
type bridge struct {
	ua        *UA
	id        string            // of the call
	variables map[string]string // of the call, for the headers of further legs
	current   atomic.Pointer[leg.Leg]
	transfers chan call.PeerTransfer
	done      chan struct{} // closed when the call is over

	mu      sync.Mutex
	live    map[*leg.Leg]struct{} // legs that are not over
	count   int                   // transfers so far
	refused int                   // transfers that were refused so far
	cancel  context.CancelFunc    // of the transfer that runs; nil: none
	hungUp  bool
}

var _ interface {
	call.Leg
	call.Explained
	call.Transferable
} = (*bridge)(nil)

func (u *UA) newBridge(id string, variables map[string]string) *bridge {
	return &bridge{
		ua: u, id: id, variables: variables, live: map[*leg.Leg]struct{}{}, done: make(chan struct{}),
		transfers: make(chan call.PeerTransfer, maxTransfers),
	}
}

// adoptLeg makes an answered leg the leg of the call.
func (b *bridge) adoptLeg(l *leg.Leg) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.carryLocked(l)
}

func (b *bridge) carryLocked(l *leg.Leg) {
	if b.current.Swap(l) == l {
		return
	}
	b.live[l] = struct{}{}
	select {
	case <-l.Done(): // before it was known here
		delete(b.live, l)
		b.finish()
	default:
		if b.hungUp {
			l.End(call.HangupReason{Cause: call.CauseLocalHangup})
		}
	}
}

// over handles the end of a leg: of the call, or an unanswered one.
func (b *bridge) over(l *leg.Leg) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.live[l]; ok {
		delete(b.live, l)
		b.finish()
	}
}

// finish ends the call when no leg is left, unless a transfer may still bring one. The mutex is held.
func (b *bridge) finish() {
	if len(b.live) == 0 && b.cancel == nil {
		close(b.done)
	}
}

// Rate returns the samples a second.
func (b *bridge) Rate() int { return b.current.Load().Rate() }

// Read waits for the next 20 ms of the call.
func (b *bridge) Read(ctx context.Context) (conversation.Frame, error) {
	return b.current.Load().Read(ctx)
}

// Write queues audio.
func (b *bridge) Write(ctx context.Context, samples []int16) error {
	return b.current.Load().Write(ctx, samples)
}

// Queued returns the number of samples that are not played yet.
func (b *bridge) Queued() int { return b.current.Load().Queued() }

// Flush drops the queued samples and returns their number.
func (b *bridge) Flush() int { return b.current.Load().Flush() }

// SendDTMF sends digits after the queued audio, and waits until they are sent.
func (b *bridge) SendDTMF(ctx context.Context, digits string) error {
	return b.current.Load().SendDTMF(ctx, digits)
}

// Info describes the media and the connection of the call.
func (b *bridge) Info() call.LegInfo { return b.current.Load().Info() }

// Transfer asks the peer to call a number or URI in our place.
func (b *bridge) Transfer(ctx context.Context, to string) error {
	return b.current.Load().Transfer(ctx, to)
}

// Transfers returns the transfers by the peers.
func (b *bridge) Transfers() <-chan call.PeerTransfer { return b.transfers }

// Hangup ends the call, a transfer that runs included, and waits until the peers have confirmed.
func (b *bridge) Hangup(ctx context.Context) error {
	return b.HangupFor(ctx, call.HangupReason{Cause: call.CauseLocalHangup})
}

// HangupFor is Hangup for a reason.
func (b *bridge) HangupFor(ctx context.Context, why call.HangupReason) error {
	b.hangup(why)
	select {
	case <-b.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *bridge) hangup(why call.HangupReason) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hungUp = true
	if b.cancel != nil {
		b.cancel()
	}
	for l := range b.live {
		l.End(why)
	}
}

// Done returns a channel that is closed when the call is over.
func (b *bridge) Done() <-chan struct{} { return b.done }

// Ending returns the reason of the call's end; zero before Done is closed.
func (b *bridge) Ending() call.HangupReason {
	select {
	case <-b.done:
		return b.current.Load().Ending()
	default:
		return call.HangupReason{}
	}
}

// Stats returns the media statistics, over all legs.
func (b *bridge) Stats() call.Stats { return b.current.Load().Stats() }
