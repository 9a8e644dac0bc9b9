package agentstest

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
)

var _ conversation.Streamer = (*StreamingRecognizer)(nil)

// StreamingRecognizer is a Recognizer that is also a conversation.Streamer. Its sessions understand Voice, and return a partial text after
// every word. The functions are called from one goroutine of each session at a time. Recognizer.Fail ends the session; Recognizer.Delay is
// the time between Force and the final text.
type StreamingRecognizer struct {
	Recognizer
	Lag    time.Duration                                          // time between the audio of a word and the partial text with that word
	Refuse func(session int) error                                // returns the error of Open; session counts from 0; nil means no error
	Break  func(session int, text string) error                   // returns the error that ends a session which has heard text; nil means no error
	Alter  func(h conversation.Heard) (sent []conversation.Heard) // returns the results that are sent in place of h; nil means h

	mu       sync.Mutex
	sessions int
}

// Sessions returns the number of Open calls so far.
func (r *StreamingRecognizer) Sessions() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessions
}

// Open starts a session. It returns the error of Refuse, or CodeBadRequest for an invalid sample rate.
func (r *StreamingRecognizer) Open(ctx context.Context, h conversation.Hearing) (conversation.Stream, error) {
	r.mu.Lock()
	s := &recognizerStream{engine: r, number: r.sessions, rate: h.Rate, ctx: ctx, changed: make(chan struct{}, 1), closed: make(chan struct{})}
	r.sessions++
	r.mu.Unlock()
	if r.Hear != nil {
		r.Hear(h)
	}
	if r.Refuse != nil {
		if err := r.Refuse(s.number); err != nil {
			return nil, err
		}
	}
	if h.Rate <= 0 || h.Rate > maxRate {
		return nil, callwright.Invalid("rate", "must be from 1 to %d, and is %d", maxRate, h.Rate)
	}
	return s, ctx.Err()
}

// recognizerStream is a session of a StreamingRecognizer.
type recognizerStream struct {
	engine  *StreamingRecognizer
	number  int
	rate    int
	ctx     context.Context //nolint:containedctx // the session ends with the context of its Open
	changed chan struct{}   // receives a token when results has changed
	once    sync.Once
	closed  chan struct{}

	mu        sync.Mutex
	samples   []int16 // of the current utterance
	utterance int
	words     int // number of words in the last partial text
	results   []streamResult
}

// streamResult is a result that Next returns at the time due. A result with an error ends the session.
type streamResult struct {
	heard conversation.Heard
	err   error
	due   time.Time
}

// Write adds audio, and adds a partial text if another word is complete.
func (s *recognizerStream) Write(samples []int16) error {
	if err := s.over(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, samples...)
	complete := max(0, len(s.samples)-2*s.rate*charMillis/1000) // a later character may belong to a word that begins after this sample
	text := TextOf(s.samples)
	if TextOf(s.samples[complete:]) != "" {
		text = strings.TrimSpace(text[:strings.LastIndex(" "+text, " ")])
	}
	if n := len(strings.Fields(text)); n > s.words {
		s.words = n
		s.add(conversation.Heard{Utterance: s.utterance, Text: text, Confidence: 1}, s.engine.Lag)
	}
	if s.engine.Break != nil {
		if err := s.engine.Break(s.number, text); err != nil {
			s.results = append(s.results, streamResult{err: err, due: time.Now()})
			s.signal()
		}
	}
	return nil
}

// Force ends the utterance, and adds its final text.
func (s *recognizerStream) Force() error {
	if err := s.over(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text := TextOf(s.samples)
	if s.engine.Fail != nil {
		if err := s.engine.Fail(text); err != nil {
			s.results = append(s.results, streamResult{err: err, due: time.Now().Add(s.engine.Delay)})
			s.signal()
			return nil
		}
	}
	s.add(conversation.Heard{
		Utterance: s.utterance, Text: text, Stable: len(strings.Fields(text)), Final: true, Confidence: 1,
	}, s.engine.Delay)
	s.samples, s.words = nil, 0
	s.utterance++
	return nil
}

// add queues the results for h. The caller holds the mutex.
func (s *recognizerStream) add(h conversation.Heard, after time.Duration) {
	sent := []conversation.Heard{h}
	if s.engine.Alter != nil {
		sent = s.engine.Alter(h)
	}
	for _, h := range sent {
		s.results = append(s.results, streamResult{heard: h, due: time.Now().Add(after)})
	}
	s.signal()
}

// signal wakes Next.
func (s *recognizerStream) signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Tune reports h to Recognizer.Hear.
func (s *recognizerStream) Tune(h conversation.Hearing) error {
	if s.engine.Hear != nil {
		s.engine.Hear(h)
	}
	return s.over()
}

// Next waits for the next result.
func (s *recognizerStream) Next(ctx context.Context) (conversation.Heard, error) {
	for {
		if err := ctx.Err(); err != nil {
			return conversation.Heard{}, err
		}
		if err := s.over(); err != nil {
			return conversation.Heard{}, err
		}
		due := make(<-chan time.Time)
		if first, ok := s.first(); ok {
			wait := time.Until(first.due)
			if wait <= 0 {
				return s.pop()
			}
			timer := time.NewTimer(wait)
			defer timer.Stop()
			due = timer.C
		}
		select {
		case <-due:
		case <-s.changed:
		case <-s.closed:
		case <-s.ctx.Done():
		case <-ctx.Done():
		}
	}
}

// first returns the oldest result, if any.
func (s *recognizerStream) first() (streamResult, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.results) == 0 {
		return streamResult{}, false
	}
	return s.results[0], true
}

// pop deletes the oldest result and returns it.
func (s *recognizerStream) pop() (conversation.Heard, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.results[0]
	s.results = s.results[1:]
	if r.err != nil {
		_ = s.Close()
	}
	return r.heard, r.err
}

// over returns an error if the session has ended.
func (s *recognizerStream) over() error {
	select {
	case <-s.closed:
		return io.ErrClosedPipe
	default:
		return s.ctx.Err()
	}
}

// Close ends the session.
func (s *recognizerStream) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}
