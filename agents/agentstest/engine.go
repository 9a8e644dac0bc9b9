package agentstest

import (
	"cmp"
	"context"
	"io"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/speech/tts"
)

var (
	_ tts.Synthesizer         = (*Synthesizer)(nil)
	_ conversation.Recognizer = (*Recognizer)(nil)
)

// Synthesizer is a tts.Synthesizer that speaks with Voice. It accepts every valid sample rate and every voice name. The zero value returns
// audio immediately, and fails only for an invalid request or an ended context.
type Synthesizer struct {
	Delay time.Duration             // time before the first audio of each text
	Fail  func(tts.Request) error   // returns the error of Synthesize; nil means no error
	Break func(tts.Request) error   // returns an error in the middle of the audio; nil means no error
	Hear  func(tts.Request)         // called for each text, unless nil
	Sound func(tts.Request) []int16 // returns the audio of a text; nil means Voice
	// Mark returns the marks of a text; nil means none. VoiceMarks are those of Voice.
	Mark func(tts.Request) []tts.Mark
}

// Synthesize starts to speak a text. It returns the error of an invalid request, or the error of Fail.
func (s *Synthesizer) Synthesize(ctx context.Context, speech tts.Request) (tts.Stream, error) {
	if err := speech.Check(); err != nil {
		return nil, err
	}
	if s.Hear != nil {
		s.Hear(speech)
	}
	if s.Fail != nil {
		if err := s.Fail(speech); err != nil {
			return nil, err
		}
	}
	stream := &voiceStream{ctx: ctx, closed: make(chan struct{}), end: io.EOF, wait: s.Delay}
	if s.Sound != nil {
		stream.rest = s.Sound(speech)
	} else {
		stream.rest = Voice(speech.Text, speech.Rate)
	}
	if s.Mark != nil {
		stream.marks = s.Mark(speech)
	}
	if s.Break != nil {
		if err := s.Break(speech); err != nil {
			stream.rest, stream.end = stream.rest[:len(stream.rest)/2], err
		}
	}
	return stream, nil
}

// voiceStream streams audio that was synthesized in advance.
type voiceStream struct {
	ctx    context.Context //nolint:containedctx // the stream ends with the context of its Synthesize
	rest   []int16
	marks  []tts.Mark
	end    error
	wait   time.Duration
	once   sync.Once
	closed chan struct{}
}

// Read returns the next samples. The first Read waits for the synthesizer's Delay.
func (s *voiceStream) Read(p []int16) (int, error) {
	timer := time.NewTimer(s.wait)
	defer timer.Stop()
	select {
	case <-s.ctx.Done():
	case <-s.closed:
	case <-timer.C:
	}
	if err := s.over(); err != nil {
		return 0, err
	}
	s.wait = 0
	if len(s.rest) == 0 {
		return 0, s.end
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Marks implements tts.Marker. It returns all marks, also before the first Read.
func (s *voiceStream) Marks() []tts.Mark { return s.marks }

// over returns an error if the stream was closed or its context has ended, and nil otherwise.
func (s *voiceStream) over() error {
	select {
	case <-s.closed:
		return io.ErrClosedPipe
	default:
		return s.ctx.Err()
	}
}

// Close closes the stream. It also interrupts a Read that waits.
func (s *voiceStream) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

// Recognizer is a conversation.Recognizer that understands Voice. The zero value recognizes immediately, and fails only for an invalid
// sample rate or an ended context.
type Recognizer struct {
	Delay time.Duration              // duration of Finish
	Fail  func(text string) error    // returns the error of Finish; nil means no error
	Deaf  func() error               // returns the error of Listen; nil means no error
	Hear  func(conversation.Hearing) // called for each utterance, unless nil
}

// maxRate is the highest sample rate that a Recognizer accepts.
const maxRate = 192_000

// Listen starts an utterance. It returns the error of Deaf, or CodeBadRequest for an invalid sample rate.
func (r *Recognizer) Listen(ctx context.Context, h conversation.Hearing) (conversation.Utterance, error) {
	if r.Hear != nil {
		r.Hear(h)
	}
	if r.Deaf != nil {
		if err := r.Deaf(); err != nil {
			return nil, err
		}
	}
	if h.Rate <= 0 || h.Rate > maxRate {
		return nil, callwright.Invalid("rate", "must be from 1 to %d, and is %d", maxRate, h.Rate)
	}
	return &utterance{ctx: ctx, recognizer: r}, nil
}

// utterance collects audio until Finish recognizes it.
type utterance struct {
	ctx        context.Context //nolint:containedctx // the utterance ends with the context of its Listen
	recognizer *Recognizer
	samples    []int16
}

// Write appends samples to the utterance. It never fails.
func (u *utterance) Write(samples []int16) error {
	u.samples = append(u.samples, samples...)
	return nil
}

// Finish waits for the recognizer's Delay, and returns the recognized text. It returns an error if Fail returns one, or if the context of
// Listen or of Finish ends.
func (u *utterance) Finish(ctx context.Context) (conversation.Recognized, error) {
	timer := time.NewTimer(u.recognizer.Delay)
	defer timer.Stop()
	select {
	case <-u.ctx.Done():
	case <-ctx.Done():
	case <-timer.C:
	}
	if err := cmp.Or(u.ctx.Err(), ctx.Err()); err != nil {
		return conversation.Recognized{}, err
	}
	text := TextOf(u.samples)
	if u.recognizer.Fail != nil {
		if err := u.recognizer.Fail(text); err != nil {
			return conversation.Recognized{}, err
		}
	}
	return conversation.Recognized{Text: text, Confidence: 1}, nil
}

// Close does nothing.
func (u *utterance) Close() error { return nil }
