package tts

import (
	"context"
	"io"
	"sync"
)

// Talker is an optional interface of a Synthesizer that speaks the answers of a call over one connection to its service. Open calls it.
// speechtest.RunTalker tests it.
type Talker interface {
	Synthesizer

	// Talk starts the speech of a call. It does not wait for the service: the streams of the pieces return its errors, which are those of
	// Synthesize. The text of the request is not used. When ctx ends, all streams end with an error, and the connection is closed.
	Talk(ctx context.Context, r Request) Talk
}

// Talk is the speech of a call. It is safe for concurrent use. Its pieces share a connection, which the Talk opens again whenever it is lost.
// Pieces whose audio is not complete then are spoken again, without the samples that their streams have already returned or hold. Streams
// end with CodeUnavailable only if the service refuses a piece, or if two connections in a row are lost without any new audio. A context that
// the service ends before it has spoken a piece counts as a lost connection.
type Talk interface {
	// Answer begins an answer. When ctx ends, the answer is canceled: its streams end with the error of ctx, and later audio for it is
	// discarded. Several answers may be open; canceling one of them does not change the others.
	Answer(ctx context.Context) Answer
	// Close ends all streams with an error, closes the connection, and waits for the goroutines of the Talk. It returns nil. It may be called
	// twice.
	Close() error
}

// Answer is a text that is spoken piece by piece, in one intonation where the engine supports that.
type Answer interface {
	// Say adds a piece, such as a sentence, and returns its speech without waiting for the engine. The stream yields the audio of this
	// piece only, and its marks belong to the text of the piece. Pieces are spoken in order. After End, and after the end of the Talk, the
	// stream ends with an error. The caller must close the stream.
	Say(text string) Stream
	// End states that no further piece follows. It may be called twice.
	End()
}

// Open starts the speech of a call. If the Synthesizer is no Talker, each piece is a Synthesize of its own, which the first Read of its
// stream begins.
func Open(ctx context.Context, s Synthesizer, r Request) Talk {
	if t, ok := s.(Talker); ok {
		return t.Talk(ctx, r)
	}
	return Separate(ctx, s, r)
}

// Separate returns a Talk in which each piece is a Synthesize of its own.
func Separate(ctx context.Context, s Synthesizer, r Request) Talk {
	t := &separate{synthesizer: s, request: r}
	t.ctx, t.cancel = context.WithCancel(ctx)
	return t
}

type separate struct {
	synthesizer Synthesizer
	request     Request
	ctx         context.Context //nolint:containedctx // the Talk lives as long as the context of its Open
	cancel      context.CancelFunc
}

// Answer implements Talk.
func (t *separate) Answer(ctx context.Context) Answer {
	return &separateAnswer{talk: t, ctx: ctx}
}

// Close implements Talk.
func (t *separate) Close() error {
	t.cancel()
	return nil
}

type separateAnswer struct {
	talk *separate
	ctx  context.Context //nolint:containedctx // the answer lives as long as the context of its Answer

	mu    sync.Mutex
	ended bool
}

// Say implements Answer.
func (a *separateAnswer) Say(text string) Stream {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return &lazy{err: io.ErrClosedPipe}
	}
	r := a.talk.request
	r.Text = text
	ctx, cancel := context.WithCancel(a.ctx)
	stop := context.AfterFunc(a.talk.ctx, cancel)
	return &lazy{
		over:   a.talk.ctx.Err,
		begin:  func() (Stream, error) { return a.talk.synthesizer.Synthesize(ctx, r) },
		cancel: func() { stop(); cancel() },
	}
}

// End implements Answer.
func (a *separateAnswer) End() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
}

// lazy is a stream that begins with its first Read.
type lazy struct {
	over   func() error // error of the Talk's context; may be nil
	begin  func() (Stream, error)
	cancel func()
	mu     sync.Mutex
	closed bool
	stream Stream // nil before the first Read
	err    error
}

// Read implements Stream.
func (l *lazy) Read(p []int16) (int, error) {
	if l.over != nil && l.over() != nil {
		return 0, l.over()
	}
	l.mu.Lock()
	begin := l.stream == nil && l.err == nil && !l.closed
	l.mu.Unlock()
	if begin {
		stream, err := l.begin()
		l.mu.Lock()
		l.stream, l.err = stream, err
		if l.closed && stream != nil {
			_ = stream.Close()
		}
		l.mu.Unlock()
	}
	switch {
	case l.stream != nil:
		return l.stream.Read(p)
	case l.err != nil:
		return 0, l.err
	}
	return 0, io.ErrClosedPipe
}

// Marks implements Marker.
func (l *lazy) Marks() []Mark { return MarksOf(l.stream) }

// Close implements Stream.
func (l *lazy) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.cancel != nil {
		l.cancel()
	}
	if l.stream != nil {
		return l.stream.Close()
	}
	return nil
}

// Refuse returns a Talk whose streams end with the given error.
func Refuse(err error) Talk { return refused{err} }

type refused struct{ err error }

// Answer implements Talk.
func (r refused) Answer(context.Context) Answer { return r }

// Close implements Talk.
func (r refused) Close() error { return nil }

// Say implements Answer.
func (r refused) Say(string) Stream { return &lazy{err: r.err} }

// End implements Answer.
func (r refused) End() {}
