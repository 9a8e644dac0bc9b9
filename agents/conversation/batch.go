package conversation

import (
	"context"
	"errors"
	"sync"
)

// Batch returns a Streamer that recognizes every utterance separately with r. It returns no partial texts. Utterances are recognized
// concurrently, and their results are in order. A failure of r ends the session.
func Batch(r Recognizer) Streamer { return batch{r} }

// batch implements Streamer.
type batch struct{ recognizer Recognizer }

// errStreamClosed is the error of a batchStream after Close.
var errStreamClosed = errors.New("conversation: the stream is closed")

// Open implements Streamer.
func (b batch) Open(ctx context.Context, h Hearing) (Stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &batchStream{recognizer: b.recognizer, hearing: h, wake: make(chan struct{}, 1)}
	s.ctx, s.end = context.WithCancelCause(ctx)
	return s, nil
}

// batchStream is a session of Batch.
type batchStream struct {
	recognizer Recognizer
	ctx        context.Context //nolint:containedctx // the session's life
	end        context.CancelCauseFunc
	hearing    Hearing
	current    *batchUtterance // utterance without Force; nil before its first audio
	wake       chan struct{}   // receives a token when forced has changed
	wait       sync.WaitGroup  // counts the goroutines of the utterances

	mu     sync.Mutex
	forced []*batchUtterance // utterances whose results Next has not returned; nil stands for an utterance without audio
	next   int               // number of the first of them
}

// Write implements Stream.
func (s *batchStream) Write(samples []int16) error {
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	if len(samples) == 0 {
		return nil
	}
	if s.current == nil {
		u := &batchUtterance{wake: make(chan struct{}, 1), done: make(chan struct{})}
		h := s.hearing
		s.wait.Go(func() { u.run(s.ctx, s.recognizer, h) })
		s.current = u
	}
	s.current.write(samples)
	return nil
}

// Force implements Stream.
func (s *batchStream) Force() error {
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	if s.current != nil {
		s.current.finish()
	}
	s.mu.Lock()
	s.forced = append(s.forced, s.current)
	s.mu.Unlock()
	s.current = nil
	signal(s.wake)
	return nil
}

// Tune implements Stream.
func (s *batchStream) Tune(h Hearing) error {
	h.Rate, h.Language = s.hearing.Rate, s.hearing.Language
	s.hearing = h
	return nil
}

// Next implements Stream.
func (s *batchStream) Next(ctx context.Context) (Heard, error) {
	for {
		if err := ctx.Err(); err != nil {
			return Heard{}, err
		}
		u, number, ok := s.oldest()
		var done <-chan struct{}
		if ok && u != nil {
			done = u.done
		}
		if ok && u == nil {
			s.advance()
			return Heard{Utterance: number, Final: true}, nil
		}
		select {
		case <-done:
			if u.err != nil {
				s.end(u.err)
				return Heard{}, u.err
			}
			s.advance()
			return Heard{Utterance: number, Text: u.result.Text, Confidence: u.result.Confidence, Final: true}, nil
		case <-s.wake:
		case <-ctx.Done():
			return Heard{}, ctx.Err()
		case <-s.ctx.Done():
			return Heard{}, context.Cause(s.ctx)
		}
	}
}

// oldest returns the first utterance whose result Next has not returned, and its number. ok is false if there is none.
func (s *batchStream) oldest() (u *batchUtterance, number int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.forced) == 0 {
		return nil, 0, false
	}
	return s.forced[0], s.next, true
}

// advance deletes the utterance that oldest returns.
func (s *batchStream) advance() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forced = s.forced[1:]
	s.next++
}

// Close implements Stream.
func (s *batchStream) Close() error {
	s.end(errStreamClosed)
	s.wait.Wait()
	return nil
}

// batchUtterance passes one utterance to a Recognizer. It runs in a separate goroutine, because an engine needs time to start, and Write
// must not wait.
type batchUtterance struct {
	wake chan struct{} // receives a token when pending or closed has changed

	mu      sync.Mutex
	pending []int16 // samples that the recognizer has not received yet
	closed  bool

	result Recognized
	err    error
	done   chan struct{} // closed when result and err are set
}

// run recognizes the utterance.
func (u *batchUtterance) run(ctx context.Context, r Recognizer, h Hearing) {
	defer close(u.done)
	u.result, u.err = u.recognize(ctx, r, h)
}

// recognize passes audio to the recognizer until the utterance is finished.
func (u *batchUtterance) recognize(ctx context.Context, r Recognizer, h Hearing) (Recognized, error) {
	ear, err := r.Listen(ctx, h)
	if err != nil {
		return Recognized{}, err
	}
	defer ear.Close()
	var part []int16
	for {
		var closed bool
		part, closed = u.swap(part)
		if err := ear.Write(part); err != nil {
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

// swap returns the pending samples, replaces them by an empty buffer, and reports whether the utterance is finished.
func (u *batchUtterance) swap(empty []int16) ([]int16, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	part := u.pending
	u.pending = empty[:0]
	return part, u.closed
}

// write adds audio.
func (u *batchUtterance) write(samples []int16) {
	u.mu.Lock()
	u.pending = append(u.pending, samples...)
	u.mu.Unlock()
	signal(u.wake)
}

// finish marks the end of the audio.
func (u *batchUtterance) finish() {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	signal(u.wake)
}

// signal adds a token to a channel with a capacity of 1. It does not wait.
func signal(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}
