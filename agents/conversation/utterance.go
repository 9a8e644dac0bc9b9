package conversation

import (
	"context"
	"sync"
	"time"
)

// utterance passes one continuous piece of the caller's speech to the recognizer. It runs in a separate goroutine, because an engine needs
// time to start and the reader must not wait.
type utterance struct {
	began  time.Duration   // time of the call
	ctx    context.Context //nolint:containedctx // the utterance's life
	cancel context.CancelFunc

	mu      sync.Mutex
	pending []int16 // samples that the recognizer has not received yet
	closed  bool
	wake    chan struct{} // receives a token when pending or closed has changed

	// Set when the utterance is finished.
	voiced    time.Duration
	lastVoice time.Duration // time of the call
	ended     time.Duration // time at which the end was detected
	said      string        // the agent's words before the end
	reply     bool          // whether even a back-channel interrupts the agent
	rule      bargeInRule   // rule for the agent's words

	result Recognized
	err    error
	done   chan struct{} // closed when result and err are set
}

// newUtterance returns an utterance that ends with ctx. Its audio waits until run passes it to a recognizer.
func newUtterance(ctx context.Context, began time.Duration) *utterance {
	u := &utterance{began: began, wake: make(chan struct{}, 1), done: make(chan struct{})}
	u.ctx, u.cancel = context.WithCancel(ctx)
	return u
}

// run recognizes the utterance and stores the result for text.
func (u *utterance) run(r Recognizer, h Hearing) {
	defer close(u.done)
	defer u.cancel()
	u.result, u.err = u.recognize(u.ctx, r, h)
}

// recognize passes audio to the recognizer until the utterance is finished.
func (u *utterance) recognize(ctx context.Context, r Recognizer, h Hearing) (Recognized, error) {
	ear, err := r.Listen(ctx, h)
	if err != nil {
		return Recognized{}, err
	}
	defer ear.Close()
	var batch []int16
	for {
		var closed bool
		batch, closed = u.next(batch)
		if err := ear.Write(batch); err != nil {
			return Recognized{}, err
		}
		if closed {
			return ear.Finish(ctx)
		}
		select {
		case <-u.wake:
		case <-ctx.Done():
			return Recognized{}, ctx.Err()
		}
	}
}

// next returns the pending samples, replaces them by an empty buffer, and reports whether the utterance is finished.
func (u *utterance) next(empty []int16) ([]int16, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	batch := u.pending
	u.pending = empty[:0]
	return batch, u.closed
}

// write adds audio. It does not block.
func (u *utterance) write(samples []int16) {
	u.mu.Lock()
	u.pending = append(u.pending, samples...)
	u.mu.Unlock()
	u.signal()
}

// finish marks the end of the audio. It does not wait.
func (u *utterance) finish() {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	u.signal()
}

func (u *utterance) signal() {
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// abandon cancels the recognition.
func (u *utterance) abandon() { u.cancel() }

// text waits for the recognized words.
func (u *utterance) text() (Recognized, error) {
	<-u.done
	return u.result, u.err
}
