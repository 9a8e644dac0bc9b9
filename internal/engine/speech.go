package engine

import (
	"context"
	"io"
	"strings"
	"sync"
	"unicode"

	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
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
	marks  []tts.Mark
	err    error
}

// Speech is the audio of a text, with the marks of its words, if the engine knows them. Marks count samples of Audio.
type Speech struct {
	Audio pcm.Audio
	Marks []tts.Mark
}

// Speak calls produce in the background, and returns a Stream of the audio at the given sample rate in hertz. The context of produce ends
// with ctx, and when the stream is closed.
func Speak(ctx context.Context, rate int, produce func(context.Context) (Speech, error)) *Stream {
	s := &Stream{ctx: ctx, closed: make(chan struct{}), made: make(chan struct{})}
	producing, cancel := context.WithCancel(ctx)
	s.cancel = cancel
	go func() {
		defer close(s.made)
		defer cancel()
		speech, err := produce(producing)
		if err != nil {
			s.err = err
			return
		}
		audio := speech.Audio
		s.out, s.err = pcm.Convert(&whole{audio.Mono()}, audio.Rate, rate)
		for _, m := range speech.Marks {
			m.Start, m.End = m.Start*rate/audio.Rate, m.End*rate/audio.Rate
			s.marks = append(s.marks, m)
		}
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

// Marks implements tts.Marker. It returns all marks after the first Read.
func (s *Stream) Marks() []tts.Mark {
	select {
	case <-s.made:
		return s.marks
	default:
		return nil
	}
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
