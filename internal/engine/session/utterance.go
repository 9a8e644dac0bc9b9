package session

import (
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
)

// receive adds an event to the current utterance. The caller must hold s.mu.
func (s *Session) receive(e Event) {
	e.Text = strings.TrimSpace(e.Text)
	if s.err != nil {
		return
	}
	if s.segments.Len()+len(e.Text) > maxText {
		s.fail(callwright.Errorf(callwright.CodeUnavailable, "the speech service returned more than %d bytes of text for an utterance", maxText))
		return
	}
	s.finished = e.Over
	switch {
	case e.Segment:
		if s.segments.Len() > 0 && e.Text != "" {
			s.segments.WriteByte(' ')
		}
		s.segments.WriteString(e.Text)
		s.words += len(strings.Fields(e.Text))
		s.partial = Event{EndOfTurn: e.EndOfTurn, Confidence: e.Confidence}
	case !e.Done:
		s.partial = e
	}
	if e.Done {
		s.end()
		return
	}
	s.add(s.heard(false))
	if s.settle != nil {
		s.settle.Reset(s.cfg.Settle)
	}
}

// heard returns the current result of the utterance. The caller must hold s.mu.
func (s *Session) heard(final bool) conversation.Heard {
	return conversation.Heard{
		Utterance: s.ended, Text: join(s.segments.String(), s.partial.Text), Final: final,
		Stable:    s.words + min(s.partial.Stable, len(strings.Fields(s.partial.Text))),
		EndOfTurn: bounded(s.partial.EndOfTurn), Confidence: bounded(s.partial.Confidence),
	}
}

// end ends the oldest forced utterance with the text so far. An answer to a Force that has already ended is ignored. The caller must hold
// s.mu.
func (s *Session) end() {
	if len(s.open) == 0 || !s.open[0] {
		return
	}
	s.finish()
	s.proceed()
}

// finish adds the final result of the oldest forced utterance. The caller must hold s.mu.
func (s *Session) finish() {
	s.add(s.heard(true))
	if s.held && s.open[0] {
		s.held = false
		signal(s.sends)
	}
	s.open = s.open[1:]
	s.ended++
	s.segments.Reset()
	s.words, s.partial, s.finished = 0, Event{}, false
}

// proceed ends forced utterances without audio, for which nothing was sent, and waits for the end of the next one. The caller must hold
// s.mu.
func (s *Session) proceed() {
	for len(s.open) > 0 && !s.open[0] {
		s.finish()
	}
	for _, t := range []*time.Timer{s.settle, s.late} {
		if t != nil {
			t.Stop()
		}
	}
	s.settle, s.late = nil, nil
	if len(s.open) == 0 || s.err != nil {
		return
	}
	number := s.ended
	if settle := s.cfg.Settle; settle > 0 {
		if s.finished {
			settle = min(settle, settleOver)
		}
		s.settle = time.AfterFunc(settle, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.ended == number && s.err == nil {
				s.end()
			}
		})
	}
	s.late = time.AfterFunc(s.cfg.Patience, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.ended == number {
			s.fail(callwright.Errorf(callwright.CodeUnavailable, "the speech service did not end an utterance within %s", s.cfg.Patience))
		}
	})
}

// add queues a result. A partial result replaces one of the same utterance that nobody has read. The caller must hold s.mu.
func (s *Session) add(h conversation.Heard) {
	if n := len(s.results); n > 0 && !s.results[n-1].Final && s.results[n-1].Utterance == h.Utterance {
		s.results[n-1] = h
	} else if n < maxResults {
		s.results = append(s.results, h)
	} else {
		s.fail(callwright.Errorf(callwright.CodeInternal, "nobody reads the results of the speech service"))
	}
	signal(s.news)
}

// join joins two texts with a space.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

// bounded returns a probability from 0 to 1. It returns 0 for NaN.
func bounded(p float64) float64 {
	if !(p > 0) {
		return 0
	}
	return min(p, 1)
}
