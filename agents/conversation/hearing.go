package conversation

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// recognition recognizes the caller's utterances with one Stream at a time. After the loss of a Stream it opens another one, and sends the
// audio of all utterances without a final text again. Its methods and those of its utterances do not wait.
type recognition struct {
	streamer Streamer
	ctx      context.Context //nolint:containedctx // the session's time of listening
	patience time.Duration   // time in which a finished utterance must have a text
	logger   *slog.Logger
	wake     chan struct{} // receives a token when an utterance has changed

	mu     sync.Mutex
	tuned  Hearing      // of a session that begins without an utterance
	open   []*utterance // without a final text, oldest first
	end    context.CancelCauseFunc
	losses int  // sessions that have ended since the last final text
	over   bool // whether run has returned
}

// newRecognition returns a recognition that ends with ctx. h configures a session that begins before the first utterance.
func newRecognition(ctx context.Context, c Config, h Hearing) *recognition {
	return &recognition{streamer: streamerOf(c.Recognizer), ctx: ctx, patience: c.Patience, logger: c.Logger, tuned: h, wake: make(chan struct{}, 1)}
}

// begin opens an utterance. The former utterance must be finished or abandoned.
func (r *recognition) begin(h Hearing, began time.Duration) *utterance {
	u := &utterance{began: began, hearing: h, of: r, number: -1, done: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		u.end(Recognized{}, context.Cause(r.ctx))
		return u
	}
	r.open = append(r.open, u)
	return u
}

// run recognizes utterances until r.ctx ends.
func (r *recognition) run() {
	for r.ready() {
		err := r.session()
		if r.ctx.Err() == nil {
			r.lose(err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	for _, u := range r.open {
		u.end(Recognized{}, context.Cause(r.ctx))
	}
	r.open = nil
}

// The time between the end of a session and the next session.
const (
	firstReopen = 100 * time.Millisecond // doubles with every session that ends without a final text
	lastReopen  = 2 * time.Second        // maximum
)

// ready waits until the next session should begin. After two sessions in a row without a final text, it waits for an utterance. It returns
// false if r.ctx ends.
func (r *recognition) ready() bool {
	r.mu.Lock()
	losses := r.losses
	r.mu.Unlock()
	if losses > 0 {
		timer := time.NewTimer(min(firstReopen<<min(losses-1, 10), lastReopen))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.ctx.Done():
		}
	}
	for losses > 1 && r.ctx.Err() == nil && !r.waiting() {
		select {
		case <-r.wake:
		case <-r.ctx.Done():
		}
	}
	return r.ctx.Err() == nil
}

// waiting reports whether an utterance has no final text.
func (r *recognition) waiting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.open) > 0
}

// errStuck ends a session that has not returned a final text within the patience. Its cause errNoText distinguishes it from an engine's error
// with the same code, which errors.Is would not.
var (
	errNoText = errors.New("conversation: no text in time")
	errStuck  = callwright.Errorf(callwright.CodeUnavailable, "the recognizer returned no text in time").Because(errNoText)
)

// errIgnored is the error of an utterance whose words are not awaited, because they do not matter any more.
var errIgnored = errors.New("conversation: the words are not awaited")

// unrecognized returns the reason why an utterance has no text, for the transcript. It is empty if err is nil or errIgnored.
func unrecognized(err error) Unrecognized {
	switch {
	case err == nil, errors.Is(err, errIgnored):
		return ""
	case errors.Is(err, errNoText):
		return UnrecognizedTimeout
	}
	switch callwright.CodeOf(err) {
	case callwright.CodeUnavailable, callwright.CodeTooManyRequests:
		return UnrecognizedUnavailable
	case callwright.CodeBadRequest, callwright.CodeAuthFailure, callwright.CodeForbidden:
		return UnrecognizedRefused
	default:
		return UnrecognizedError
	}
}

// session opens a Stream and uses it until it ends. It returns the reason.
func (r *recognition) session() error {
	ctx, end := context.WithCancelCause(r.ctx)
	defer end(nil)
	r.mu.Lock()
	r.end = end
	h := r.tuned
	if len(r.open) > 0 {
		h = r.open[0].hearing
	}
	r.mu.Unlock()
	stream, err := r.streamer.Open(ctx, h)
	if err != nil {
		end(err)
		return context.Cause(ctx)
	}
	received := make(chan struct{})
	go func() {
		defer close(received)
		end(r.receive(ctx, stream))
	}()
	end(r.send(ctx, stream, h))
	_ = stream.Close()
	<-received
	return context.Cause(ctx)
}

// send passes the audio of the utterances to the stream, one after the other, until ctx ends or the stream returns an error.
func (r *recognition) send(ctx context.Context, stream Stream, h Hearing) error {
	for forced := 0; ; {
		next, part, force := r.part(forced)
		switch {
		case next == nil || len(part) == 0 && !force:
			select {
			case <-r.wake:
			case <-ctx.Done():
				return ctx.Err()
			}
			continue
		case !reflect.DeepEqual(next.hearing, h):
			h = next.hearing
			if err := stream.Tune(h); err != nil {
				return err
			}
		}
		if len(part) > 0 {
			if err := stream.Write(part); err != nil {
				return err
			}
		}
		if force {
			forced++
			if err := stream.Force(); err != nil {
				return err
			}
		}
	}
}

// part returns the utterance that is sent, its next audio, and whether it ends with that audio. It returns nil if there is no such utterance.
// forced is the number of Force calls so far.
func (r *recognition) part(forced int) (next *utterance, audio []int16, force bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.open, func(u *utterance) bool { return !u.forced })
	if at < 0 {
		return nil, nil, false
	}
	u := r.open[at]
	audio = u.samples[u.sent:]
	u.number, u.sent, u.forced = forced, len(u.samples), u.closed
	return u, audio, u.closed
}

// receive passes the results of the stream to the utterances.
func (r *recognition) receive(ctx context.Context, stream Stream) error {
	for {
		heard, err := stream.Next(ctx)
		if err != nil {
			return err
		}
		r.deliver(heard)
	}
}

// deliver stores a result. It ignores results of utterances that already have a final text, and of utterances that do not exist.
func (r *recognition) deliver(heard Heard) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.open, func(u *utterance) bool { return u.number == heard.Utterance })
	if at < 0 {
		return
	}
	u := r.open[at]
	if !heard.Final || !u.forced {
		heard.Final = false
		u.heard, u.changed = heard, true
		u.partial = u.partial || heard.Text != ""
		return
	}
	r.losses = 0
	r.open = slices.Delete(r.open, at, at+1)
	u.heard = heard
	u.end(Recognized{Text: heard.Text, Confidence: heard.Confidence}, nil)
}

// lose prepares the utterances for the next session. The second loss of an utterance that was the oldest is a failure of its recognition.
func (r *recognition) lose(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logger.WarnContext(r.ctx, "recognizer session ended", "error", err, "utterances", len(r.open))
	r.open = slices.DeleteFunc(r.open, func(u *utterance) bool { return u.ended() })
	if !errors.Is(err, errNoText) {
		r.losses++
		if len(r.open) > 0 {
			if r.open[0].losses++; r.open[0].losses > 1 {
				r.open[0].end(Recognized{}, err)
				r.open = r.open[1:]
			}
		}
	}
	for _, u := range r.open {
		u.number, u.sent, u.forced = -1, 0, false
	}
	signal(r.wake)
}

// expire gives up the words of an utterance, and the session, because results are in order.
func (r *recognition) expire(u *utterance) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.Index(r.open, u)
	if at < 0 {
		return
	}
	r.open = slices.Delete(r.open, at, at+1)
	u.end(Recognized{}, errStuck)
	r.end(errStuck)
}
