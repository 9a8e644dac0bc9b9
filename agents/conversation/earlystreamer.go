package conversation

import (
	"context"
	"errors"
	"sync"
)

// EarlyStreamer is the Recognizer of one call. It can open the first session of a Streamer before the call is answered, so that the caller's
// first words do not wait for the engine. The first Open with the same rate and language returns that session. Every other Open, and the
// first one if that session has failed, opens another session. It is safe for concurrent use.
type EarlyStreamer struct {
	Recognizer
	streams bool // whether the Recognizer is a Streamer
	wait    sync.WaitGroup

	mu    sync.Mutex
	early *earlySession // session that Open has not returned; nil if there is none
	over  bool          // whether Prepare does nothing
}

// earlySession is a session that is opened before the call is answered.
type earlySession struct {
	hearing Hearing
	ctx     context.Context //nolint:containedctx // the session's life, which the context of EarlyStreamer.Open ends, too
	end     context.CancelCauseFunc
	release func() bool   // makes the session outlive the context of Prepare
	opened  chan struct{} // closed when stream and err are set
	stream  Stream
	err     error
}

// errNotAnswered ends an early session that no conversation uses.
var errNotAnswered = errors.New("conversation: no conversation uses the early session")

// NewEarlyStreamer returns an EarlyStreamer that uses r. The caller must close it after the call.
func NewEarlyStreamer(r Recognizer) *EarlyStreamer {
	_, streams := r.(Streamer)
	return &EarlyStreamer{Recognizer: r, streams: streams}
}

// Prepare begins to open the session, and does not wait. h contains the probable rate and the language of the call. The session ends when
// ctx ends before Open returns the session. Prepare does nothing if the Recognizer is not a Streamer, and after the first Prepare, Open or
// Close.
func (e *EarlyStreamer) Prepare(ctx context.Context, h Hearing) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over || !e.streams {
		return
	}
	e.over = true
	s := &earlySession{hearing: h, opened: make(chan struct{})}
	s.ctx, s.end = context.WithCancelCause(context.WithoutCancel(ctx))
	s.release = context.AfterFunc(ctx, func() { s.end(context.Cause(ctx)) })
	e.early = s
	e.wait.Go(func() {
		defer close(s.opened)
		s.stream, s.err = streamerOf(e.Recognizer).Open(s.ctx, h)
	})
}

// Open implements Streamer.
func (e *EarlyStreamer) Open(ctx context.Context, h Hearing) (Stream, error) {
	if s := e.claim(); s != nil {
		if s.adopt(ctx, h) {
			return s.stream, nil
		}
		e.discard(s)
	}
	return streamerOf(e.Recognizer).Open(ctx, h)
}

// Close ends the session that Open has not returned, if any, and waits for its end.
func (e *EarlyStreamer) Close() {
	if s := e.claim(); s != nil {
		e.discard(s)
	}
	e.wait.Wait()
}

// claim returns the session at the first call, and nil at later calls.
func (e *EarlyStreamer) claim() *earlySession {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.early
	e.early, e.over = nil, true
	return s
}

// discard ends a session in the background.
func (e *EarlyStreamer) discard(s *earlySession) {
	s.release()
	s.end(errNotAnswered)
	e.wait.Go(func() {
		<-s.opened
		if s.err == nil {
			_ = s.stream.Close()
		}
	})
}

// adopt waits until the session is open, and makes it a session that ends with ctx and is tuned to h. It returns false if the session
// cannot be used.
func (s *earlySession) adopt(ctx context.Context, h Hearing) bool {
	if s.hearing.Rate != h.Rate || s.hearing.Language != h.Language {
		return false
	}
	s.release()
	context.AfterFunc(ctx, func() { s.end(context.Cause(ctx)) })
	<-s.opened
	return s.err == nil && s.stream.Write(nil) == nil && s.stream.Tune(h) == nil
}

// streamerOf returns the Streamer of a Recognizer.
func streamerOf(r Recognizer) Streamer {
	if s, ok := r.(Streamer); ok {
		return s
	}
	return Batch(r)
}
