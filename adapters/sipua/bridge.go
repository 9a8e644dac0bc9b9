package sipua

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/callwright/callwright/adapters/sipua/internal/leg"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

// maxTransfers is the maximum number of transfers by the peers of one call. It is limited because each transfer rings a phone.
const maxTransfers = 10

// bridge is the call.Leg of a whole call. It uses the leg to the peer or, after the peer has transferred us with REFER, the leg to the
// target. The audio continues on the new leg: see leg.Audio.
type bridge struct {
	ua        *UA
	id        string            // of the call
	variables map[string]string // of the call, for the headers of further INVITEs
	current   atomic.Pointer[leg.Leg]
	transfers chan call.PeerTransfer
	done      chan struct{} // closed when the call has ended

	mu      sync.Mutex
	live    map[*leg.Leg]struct{} // legs that have not ended
	count   int                   // number of accepted transfers
	refused int                   // number of refused transfers
	cancel  context.CancelFunc    // cancels the running transfer; nil if none is running
	hungUp  bool

	background []int16 // loop of PlayBackground; nil if there is none
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

// adoptLeg makes an answered leg the current leg of the call.
func (b *bridge) adoptLeg(l *leg.Leg) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.carryLocked(l)
}

func (b *bridge) carryLocked(l *leg.Leg) {
	if b.current.Swap(l) == l {
		return
	}
	if b.background != nil {
		l.PlayBackground(b.background)
	}
	b.live[l] = struct{}{}
	select {
	case <-l.Done(): // the leg ended before it was adopted
		delete(b.live, l)
		b.finish()
	default:
		if b.hungUp {
			l.End(call.HangupReason{Cause: call.CauseLocalHangup})
		}
	}
}

// over handles the end of a leg. It does nothing for a leg that was never adopted.
func (b *bridge) over(l *leg.Leg) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.live[l]; ok {
		delete(b.live, l)
		b.finish()
	}
}

// finish closes done if no leg is live and no transfer is running, because a transfer could add a leg. The caller must hold the mutex.
func (b *bridge) finish() {
	if len(b.live) == 0 && b.cancel == nil {
		close(b.done)
	}
}

// Rate returns the sample rate of the current leg, in samples per second.
func (b *bridge) Rate() int { return b.current.Load().Rate() }

// Read waits for the next 20 ms of audio on the current leg.
func (b *bridge) Read(ctx context.Context) (conversation.Frame, error) {
	return b.current.Load().Read(ctx)
}

// Write queues samples for playback on the current leg.
func (b *bridge) Write(ctx context.Context, samples []int16) error {
	return b.current.Load().Write(ctx, samples)
}

// Queued returns the number of queued samples that the current leg has not yet played.
func (b *bridge) Queued() int { return b.current.Load().Queued() }

// PlayBackground mixes a loop into all audio to the peer, on the current leg and the following ones.
func (b *bridge) PlayBackground(loop []int16) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.background = loop
	b.current.Load().PlayBackground(loop)
}

// Flush discards the queued samples and returns their number.
func (b *bridge) Flush() int { return b.current.Load().Flush() }

// SendDTMF sends digits on the current leg after the queued audio, and waits until they are sent.
func (b *bridge) SendDTMF(ctx context.Context, digits string) error {
	return b.current.Load().SendDTMF(ctx, digits)
}

// Info describes the media and the connection of the current leg.
func (b *bridge) Info() call.LegInfo { return b.current.Load().Info() }

// Transfer sends REFER, so that the peer calls a number or URI in our place.
func (b *bridge) Transfer(ctx context.Context, to string) error {
	return b.current.Load().Transfer(ctx, to)
}

// Transfers returns a channel of the accepted transfers by the peer.
func (b *bridge) Transfers() <-chan call.PeerTransfer { return b.transfers }

// Hangup ends the call and any running transfer, and waits until the peers have confirmed or ctx ends.
func (b *bridge) Hangup(ctx context.Context) error {
	return b.HangupFor(ctx, call.HangupReason{Cause: call.CauseLocalHangup})
}

// HangupFor does the same as Hangup, and reports the reason to the peers and in the call records.
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

// Ending returns the reason for the end of the call, or the zero value if Done is not closed.
func (b *bridge) Ending() call.HangupReason {
	select {
	case <-b.done:
		return b.current.Load().Ending()
	default:
		return call.HangupReason{}
	}
}

// Stats returns the media statistics of the call, including its earlier legs.
func (b *bridge) Stats() call.Stats { return b.current.Load().Stats() }
