package conversation_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/sounds"
	"github.com/callwright/callwright/speech/tts"
)

// engines contains the latencies of the engines.
type engines struct {
	final   time.Duration // from the end of an utterance to its text
	partial time.Duration // from the end of a word to the partial text with it; 0 means that the recognizer is batch
	brain   time.Duration // to the first step of an answer
	speech  time.Duration // to the first sample of a text
	sound   []int16       // what the agent's words sound like, repeated as long as necessary; nil means a buzz
}

// synthesizer returns a synthesizer that speaks 60 ms for each letter.
func (e engines) synthesizer() tts.Synthesizer {
	return &agentstest.Synthesizer{Delay: e.speech, Sound: func(r tts.Request) []int16 {
		out := make([]int16, 0, len(r.Text)*rate*60/1000)
		for len(e.sound) > 0 && len(out) < cap(out) {
			out = append(out, e.sound[:min(len(e.sound), cap(out)-len(out))]...)
		}
		if out = out[:cap(out)]; len(e.sound) == 0 {
			buzz := sounds.Tones(voiceLevel-6, 150, 300, 600, 1050)
			for i := range out {
				out[i] = sounds.Clip(buzz(i))
			}
		}
		return out
	}}
}

// brain answers every turn of the caller with a sentence, after a delay.
type brain struct {
	began   time.Time
	opening string
	delay   time.Duration
	expect  conversation.Expect

	mu    sync.Mutex
	turns []turnAt
	asked int // answers that were begun
}

func (b *brain) AnswersEarly() bool { return true }

func (b *brain) Respond(ctx context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		switch t.Kind {
		case conversation.TurnStart:
			if b.opening != "" && yield(b.expect, nil) {
				yield(conversation.Say{Text: b.opening}, nil)
			}
			return
		case conversation.TurnSpeech:
		default:
			return
		}
		b.mu.Lock()
		b.asked++
		b.mu.Unlock()
		if t.Early == nil {
			b.add(t)
		}
		select {
		case <-time.After(b.delay):
		case <-ctx.Done():
			return
		}
		if !yield(conversation.Say{Text: "yes, that is fine, and we will do so today"}, nil) || t.Early == nil {
			return
		}
		if err := t.Commit(ctx); err == nil {
			b.add(t)
		}
	}
}

func (b *brain) add(t conversation.Turn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turns = append(b.turns, turnAt{t, time.Since(b.began)})
}

// recognizer understands exactly the words of a scene that are in an utterance's audio by half or more.
type recognizer struct {
	words   []word
	began   time.Time
	engines engines
}

// recognizerFor returns the recognizer of a scene, which streams if the engines do.
func recognizerFor(s scene, began time.Time) conversation.Recognizer {
	r := &recognizer{words: s.words, began: began, engines: s.engines}
	if s.engines.partial > 0 {
		return streamer{r}
	}
	return r
}

// heard contains the samples of the call that an utterance contains.
type heard struct {
	from, to int
	begun    bool
}

// write adds audio that ends now.
func (h *heard) write(began time.Time, n int) {
	if n == 0 {
		return
	}
	if !h.begun {
		h.begun = true
		h.from = int(time.Since(began)*rate/time.Second) - n
		h.to = h.from
	}
	h.to += n
}

// text returns the words of the utterance whose end is at or before a sample.
func (r *recognizer) text(h heard, until int) string {
	var out []string
	for _, w := range r.words {
		if middle := (w.start + w.end) / 2; middle >= h.from && middle < h.to && w.end <= until {
			out = append(out, w.text)
		}
	}
	return strings.Join(out, " ")
}

func (r *recognizer) Listen(ctx context.Context, _ conversation.Hearing) (conversation.Utterance, error) {
	return &batchUtterance{recognizer: r, listen: ctx}, ctx.Err()
}

type batchUtterance struct {
	recognizer *recognizer
	listen     context.Context //nolint:containedctx // the utterance's life
	heard      heard
}

func (u *batchUtterance) Write(samples []int16) error {
	u.heard.write(u.recognizer.began, len(samples))
	return nil
}

func (u *batchUtterance) Finish(ctx context.Context) (conversation.Recognized, error) {
	select {
	case <-time.After(u.recognizer.engines.final):
		return conversation.Recognized{Text: u.recognizer.text(u.heard, u.heard.to+rate)}, nil
	case <-ctx.Done():
		return conversation.Recognized{}, ctx.Err()
	case <-u.listen.Done():
		return conversation.Recognized{}, u.listen.Err()
	}
}

func (u *batchUtterance) Close() error { return nil }

// streamer is a recognizer with partial texts.
type streamer struct{ *recognizer }

func (s streamer) Open(ctx context.Context, _ conversation.Hearing) (conversation.Stream, error) {
	return &stream{recognizer: s.recognizer, session: ctx, wake: make(chan struct{}, 1), closed: make(chan struct{})}, ctx.Err()
}

// due is a result that is returned at a time.
type due struct {
	conversation.Heard
	at time.Time
}

type stream struct {
	recognizer *recognizer
	session    context.Context //nolint:containedctx // the session's life
	wake       chan struct{}
	closed     chan struct{}
	once       sync.Once

	mu        sync.Mutex
	heard     heard
	utterance int
	text      string
	results   []due
}

func (s *stream) Write(samples []int16) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard.write(s.recognizer.began, len(samples))
	lag := int(s.recognizer.engines.partial * rate / time.Second)
	if text := s.recognizer.text(s.heard, s.heard.to-lag); text != s.text {
		s.text = text
		s.add(due{conversation.Heard{Utterance: s.utterance, Text: text, Stable: len(strings.Fields(text)) - 1}, time.Now()})
	}
	return nil
}

func (s *stream) Force() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.recognizer.text(s.heard, s.heard.to+rate)
	s.add(due{
		conversation.Heard{Utterance: s.utterance, Text: text, Stable: len(strings.Fields(text)), Final: true},
		time.Now().Add(s.recognizer.engines.final),
	})
	s.utterance++
	s.heard, s.text = heard{}, ""
	return nil
}

// add queues a result. The caller must hold the mutex.
func (s *stream) add(d due) {
	s.results = append(s.results, d)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *stream) Next(ctx context.Context) (conversation.Heard, error) {
	for {
		s.mu.Lock()
		var timer <-chan time.Time
		if len(s.results) > 0 {
			first := s.results[0]
			if !time.Now().Before(first.at) {
				s.results = s.results[1:]
				s.mu.Unlock()
				return first.Heard, nil
			}
			timer = time.After(time.Until(first.at))
		}
		s.mu.Unlock()
		select {
		case <-timer:
		case <-s.wake:
		case <-ctx.Done():
			return conversation.Heard{}, ctx.Err()
		case <-s.session.Done():
			return conversation.Heard{}, s.session.Err()
		case <-s.closed:
			return conversation.Heard{}, errClosed
		}
	}
}

var errClosed = errors.New("the session is closed")

func (s *stream) Tune(conversation.Hearing) error { return nil }

func (s *stream) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}
