package engine

import (
	"context"
	"io"
	"strings"
	"sync"
	"unicode"

	"github.com/callwright/callwright/speech/pcm"
)

// Silent reports whether a text contains nothing to speak: no letter, digit or symbol.
func Silent(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsSymbol(r)
	})
}

// Stream is audio that is produced as a whole in the background, and then read.
type Stream struct {
	ctx    context.Context //nolint:containedctx // the stream lives as long as the context of its Synthesize
	cancel context.CancelFunc
	closed chan struct{}
	once   sync.Once
	made   chan struct{} // closed when out or err is set
	out    pcm.Source
	err    error
}

// Speak calls produce in the background, and returns a Stream of the audio at the given sample rate in hertz. The context of produce ends
// with ctx, and when the stream is closed.
func Speak(ctx context.Context, rate int, produce func(context.Context) (pcm.Audio, error)) *Stream {
	s := &Stream{ctx: ctx, closed: make(chan struct{}), made: make(chan struct{})}
	producing, cancel := context.WithCancel(ctx)
	s.cancel = cancel
	go func() {
		defer close(s.made)
		defer cancel()
		audio, err := produce(producing)
		if err != nil {
			s.err = err
			return
		}
		s.out, s.err = pcm.Convert(&whole{audio.Mono()}, audio.Rate, rate)
	}()
	return s
}

// Read waits for the audio and returns the next samples. It returns the error of produce if produce failed, ctx.Err() after the end of ctx,
// and io.ErrClosedPipe after Close.
func (s *Stream) Read(p []int16) (int, error) {
	select {
	case <-s.made:
	case <-s.ctx.Done():
	case <-s.closed:
	}
	select {
	case <-s.closed:
		return 0, io.ErrClosedPipe
	default:
	}
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	if s.err != nil {
		return 0, s.err
	}
	return s.out.Read(p)
}

// Close closes the stream and waits until produce has returned.
func (s *Stream) Close() error {
	s.once.Do(func() { close(s.closed) })
	s.cancel()
	<-s.made
	return nil
}

// whole is a pcm.Source of samples in memory.
type whole struct{ rest []int16 }

// Read returns the next samples, or io.EOF after the last.
func (w *whole) Read(p []int16) (int, error) {
	if len(w.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}
