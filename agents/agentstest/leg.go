package agentstest

import (
	"context"
	"io"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/speech/pcm"
)

var _ interface {
	call.Leg
	call.Transferable
	call.BackgroundPlayer
} = (*Leg)(nil)

// Leg is the near end of a Phone's call. Each Read waits for the phone's pace, and exchanges one frame: it returns the phone's audio and
// plays written audio. With PhoneConfig.Unproven, written audio is played only after the phone has sent audio.
type Leg struct {
	phone *Phone
	next  time.Time // time of the next frame
	in    []int16
	out   []int16
}

// Rate returns the phone's sample rate.
func (l *Leg) Rate() int { return l.phone.config.Rate }

// Read returns the next frame, or io.EOF after the end of the call. The frame's samples are valid until the next Read.
func (l *Leg) Read(ctx context.Context) (conversation.Frame, error) {
	if err := l.pace(ctx); err != nil {
		return conversation.Frame{}, err
	}
	p, size := l.phone, l.Rate()/50
	if l.in == nil {
		l.in, l.out = make([]int16, size), make([]int16, size)
	}
	var f conversation.Frame
	p.change(func() {
		f = conversation.Frame{In: l.in, OnHold: p.held, Elapsed: p.elapsed}
		p.elapsed += frameTime
		clear(l.in)
		if !p.held {
			n := copy(l.in, p.say)
			p.say, p.proven = p.say[n:], p.proven || n > 0
		}
		if len(p.keys) > 0 {
			f.Digit, p.keys = p.keys[0], p.keys[1:]
		}
		clear(l.out)
		if len(p.queue) > 0 && p.proven {
			p.queue, f.Out = p.queue[copy(l.out, p.queue):], l.out
		}
		p.played = append(p.played, l.out...)
		if !p.held {
			p.loopAt = pcm.MixLoop(p.played[len(p.played)-size:], p.loop, p.loopAt)
		}
		p.answer()
	})
	return f, nil
}

// pace waits until the next frame is due, and returns io.EOF after the end of the call. For a late reader, missed frames are due
// immediately.
func (l *Leg) pace(ctx context.Context) error {
	if l.next.IsZero() {
		l.next = time.Now()
	}
	l.next = l.next.Add(l.phone.config.Pace)
	if l.phone.over() {
		return io.EOF
	}
	timer := time.NewTimer(time.Until(l.next))
	defer timer.Stop()
	select {
	case <-l.phone.gone:
		return io.EOF
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Write queues audio to be played. It waits while more than 200 ms are queued, and returns an error if ctx or the call ends first.
func (l *Leg) Write(ctx context.Context, samples []int16) error {
	p := l.phone
	for len(samples) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if p.over() {
			return io.ErrClosedPipe
		}
		p.mu.Lock()
		n := min(max(0, l.Rate()/5+1-len(p.queue)), len(samples))
		p.queue, samples = append(p.queue, samples[:n]...), samples[n:]
		changed := p.changed
		p.mu.Unlock()
		if len(samples) == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-p.gone:
			return io.ErrClosedPipe
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// PlayBackground mixes a loop into all audio that the phone hears.
func (l *Leg) PlayBackground(loop []int16) {
	l.phone.change(func() { l.phone.loop, l.phone.loopAt = loop, 0 })
}

// Queued returns the number of written samples that are not played yet.
func (l *Leg) Queued() int {
	l.phone.mu.Lock()
	defer l.phone.mu.Unlock()
	return len(l.phone.queue)
}

// Flush discards the queued samples, and returns their number.
func (l *Leg) Flush() int {
	var n int
	l.phone.change(func() {
		n = len(l.phone.queue)
		l.phone.queue = nil
	})
	return n
}

// SendDTMF waits until the queued audio is played and, with PhoneConfig.Unproven, until the phone has sent audio. Then it sends the digits.
// It returns an error if ctx or the call ends first.
func (l *Leg) SendDTMF(ctx context.Context, digits string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p := l.phone
	if err := p.wait(ctx, func() bool { return len(p.queue) == 0 && p.proven }); err != nil {
		return err
	}
	p.change(func() { p.pressed = append(p.pressed, digits...) })
	return nil
}

// Info returns fixed values.
func (l *Leg) Info() call.LegInfo {
	return call.LegInfo{
		SIPCallID: l.phone.id + "@agentstest", Peer: "127.0.0.1:5061",
		Codec: "PCMU", SRTPSuite: "AES_CM_128_HMAC_SHA1_80", TLS: "TLS 1.3",
	}
}

// Transfer calls PhoneConfig.Transfer, if set. Unless that returns an error, the call ends with CauseTransferred. After the end of the
// call, Transfer returns CodeInvalidState.
func (l *Leg) Transfer(_ context.Context, to string) error {
	if l.phone.over() {
		return callwright.Errorf(callwright.CodeInvalidState, "the call has ended")
	}
	if f := l.phone.config.Transfer; f != nil {
		if err := f(to); err != nil {
			return err
		}
	}
	l.phone.end(call.HangupReason{Cause: call.CauseTransferred, Reason: to})
	return nil
}

// Transfers returns a channel that receives the transfers reported by Phone.Refer.
func (l *Leg) Transfers() <-chan call.PeerTransfer { return l.phone.referred }

// Hangup ends the call from the near end, unless the call is already ending, and waits until the call has ended.
func (l *Leg) Hangup(ctx context.Context) error {
	return l.HangupFor(ctx, call.HangupReason{Cause: call.CauseLocalHangup})
}

// HangupFor hangs up like Hangup, with a reason that Ending then returns.
func (l *Leg) HangupFor(ctx context.Context, why call.HangupReason) error {
	why.Unconfirmed = l.phone.config.Deaf
	l.phone.end(why)
	select {
	case <-l.phone.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Done returns a channel that is closed when the call has ended.
func (l *Leg) Done() <-chan struct{} { return l.phone.done }

// Ending returns the reason for the end of the call, or the zero value before Done is closed.
func (l *Leg) Ending() call.HangupReason {
	select {
	case <-l.phone.done:
	default:
		return call.HangupReason{}
	}
	l.phone.mu.Lock()
	defer l.phone.mu.Unlock()
	return l.phone.ending
}

// Stats counts one packet per frame in each direction, and returns the phone's Fault.
func (l *Leg) Stats() call.Stats {
	n := uint64(l.phone.Elapsed() / frameTime)
	return call.Stats{Sent: n, Received: n, Fault: l.phone.config.Fault}
}
