package agentstest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/callwrighttest"
)

// RunStreamer tests a conversation.Streamer with the audio of a RecognizerHarness: the order of the results, utterances without words or
// audio, changed hints, contexts, Close, and concurrent sessions. newStreamer uses t.Cleanup to free the streamer's resources. The harness
// does not need New. RunStreamer must not run in parallel with other tests.
func RunStreamer(t *testing.T, newStreamer func(t *testing.T) conversation.Streamer, h RecognizerHarness) {
	t.Helper()
	s := streamerSuite{h.withDefaults(), newStreamer}
	for name, run := range map[string]func(*testing.T){
		"one final result for each Force": s.finals,
		"nothing said":                    s.silence,
		"changed hints":                   s.tunes,
		"side by side":                    s.sideBySide,
		"ends with the context of Open":   s.endsWithOpen,
		"ends with the context of Next":   s.endsWithNext,
		"close":                           s.closes,
		"rates that do not exist":         s.rates,
	} {
		callwrighttest.Sequential(t, name, run)
	}
}

type streamerSuite struct {
	RecognizerHarness
	newStreamer func(t *testing.T) conversation.Streamer
}

// open starts a session with all sentences as hints.
func (s streamerSuite) open(t *testing.T, with conversation.Streamer, rate int) conversation.Stream {
	t.Helper()
	stream, err := with.Open(t.Context(), conversation.Hearing{Rate: rate, Language: s.Language, Phrases: s.Sentences})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stream.Close() })
	return stream
}

// write writes audio in pieces of 20 ms, and ends the utterance.
func (s streamerSuite) write(t *testing.T, stream conversation.Stream, audio []int16, rate int) {
	t.Helper()
	piece := make([]int16, 0, rate/50)
	for part := range slices.Chunk(audio, cap(piece)) {
		piece = append(piece[:0], part...)
		if err := stream.Write(piece); err != nil {
			t.Error(err)
			return
		}
		clear(piece) // fails if the stream keeps a reference
	}
	if err := stream.Force(); err != nil {
		t.Error(err)
	}
}

// final returns the final text of an utterance. It checks that all results until then belong to that utterance.
func (s streamerSuite) final(t *testing.T, stream conversation.Stream, number int) string {
	t.Helper()
	for {
		heard, err := stream.Next(t.Context())
		if err != nil {
			t.Fatalf("utterance %d: %v", number, err)
		}
		if heard.Utterance != number || heard.Confidence < 0 || heard.Confidence > 1 || heard.EndOfTurn < 0 || heard.EndOfTurn > 1 {
			t.Errorf("utterance %d has the result %+v", number, heard)
		}
		if heard.Final {
			return heard.Text
		}
	}
}

func (s streamerSuite) finals(t *testing.T) {
	var stream conversation.Stream
	with := s.newStreamer(t)
	for _, prompt := range s.Sentences { // all before the first result
		audio, rate := s.Speak(t, prompt)
		if stream == nil {
			stream = s.open(t, with, rate)
		}
		s.write(t, stream, audio, rate)
	}
	for i, prompt := range s.Sentences {
		if heard := s.final(t, stream, i); !s.understands(prompt, heard) {
			t.Errorf("%q is understood as %q", prompt, heard)
		}
	}
	audio, rate := s.Speak(t, s.Sentences[0])
	for i := range 2 { // one after the other
		s.write(t, stream, audio, rate)
		if heard := s.final(t, stream, len(s.Sentences)+i); !s.understands(s.Sentences[0], heard) {
			t.Errorf("%q is understood as %q", s.Sentences[0], heard)
		}
	}
}

func (s streamerSuite) silence(t *testing.T) {
	audio, rate := s.Speak(t, s.Sentences[0])
	stream := s.open(t, s.newStreamer(t), rate)
	s.write(t, stream, nil, rate)
	s.write(t, stream, make([]int16, rate), rate)
	s.write(t, stream, audio, rate)
	s.write(t, stream, nil, rate)
	for i, prompt := range []string{"", "", s.Sentences[0], ""} {
		if heard := s.final(t, stream, i); !s.understands(prompt, heard) {
			t.Errorf("%q is understood as %q", prompt, heard)
		}
	}
}

func (s streamerSuite) tunes(t *testing.T) {
	audio, rate := s.Speak(t, s.Sentences[0])
	stream, err := s.newStreamer(t).Open(t.Context(), conversation.Hearing{Rate: rate, Language: s.Language, Phrases: []string{unknown}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	err = stream.Tune(conversation.Hearing{
		Rate: rate, Language: s.Language, Phrases: append([]string{"", unknown, "\xff"}, s.Sentences...), Keywords: []string{"", "Zxqvbrtl", "\xff"},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, stream, audio, rate)
	if heard := s.final(t, stream, 0); !s.understands(s.Sentences[0], heard) {
		t.Errorf("%q is understood as %q", s.Sentences[0], heard)
	}
}

func (s streamerSuite) sideBySide(t *testing.T) {
	with := s.newStreamer(t)
	var streams []conversation.Stream
	for _, prompt := range s.Sentences {
		audio, rate := s.Speak(t, prompt)
		stream := s.open(t, with, rate)
		s.write(t, stream, audio, rate)
		streams = append(streams, stream)
	}
	for i, prompt := range s.Sentences {
		if heard := s.final(t, streams[i], 0); !s.understands(prompt, heard) {
			t.Errorf("%q beside others is understood as %q", prompt, heard)
		}
	}
}

// fails checks that Next returns an error soon, and that Write and Force do not block.
func (s streamerSuite) fails(t *testing.T, what string, stream conversation.Stream) error {
	t.Helper()
	var err error
	callwrighttest.Soon(t, what, func() {
		for err == nil { // results that were ready before
			_, err = stream.Next(t.Context())
		}
		_ = errors.Join(stream.Write(make([]int16, 160)), stream.Force())
	})
	return err
}

func (s streamerSuite) endsWithOpen(t *testing.T) {
	audio, rate := s.Speak(t, s.Sentences[1])
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := s.newStreamer(t).Open(ctx, conversation.Hearing{Rate: rate})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	if err := stream.Write(audio); err != nil {
		t.Fatal(err)
	}
	cancel()
	_ = s.fails(t, "a result after the context of Open has ended", stream)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	callwrighttest.Soon(t, "opening with an ended context", func() {
		stream, err := s.newStreamer(t).Open(ended, conversation.Hearing{Rate: rate})
		if err == nil {
			t.Error("a session opens with an ended context")
			_ = stream.Close()
		}
	})
}

func (s streamerSuite) endsWithNext(t *testing.T) {
	audio, rate := s.Speak(t, s.Sentences[0])
	stream := s.open(t, s.newStreamer(t), rate)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	callwrighttest.Soon(t, "waiting with an ended context", func() {
		if heard, err := stream.Next(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("with an ended context there is %+v, %v", heard, err)
		}
	})
	s.write(t, stream, audio, rate) // the session itself goes on
	if heard := s.final(t, stream, 0); !s.understands(s.Sentences[0], heard) {
		t.Errorf("%q is understood as %q", s.Sentences[0], heard)
	}
}

func (s streamerSuite) closes(t *testing.T) {
	audio, rate := s.Speak(t, s.Sentences[0])
	stream := s.open(t, s.newStreamer(t), rate)
	if err := stream.Write(audio); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		for {
			if _, err := stream.Next(context.WithoutCancel(t.Context())); err != nil {
				ended <- err
				return
			}
		}
	}()
	callwrighttest.Soon(t, "closing twice, and the end of Next", func() {
		if err := errors.Join(stream.Close(), stream.Close()); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := <-ended; err == nil {
			t.Error("Next ends without an error")
		}
	})
	if err := s.fails(t, "a result after Close", stream); err == nil {
		t.Error("a closed session has results")
	}
}

func (s streamerSuite) rates(t *testing.T) {
	for _, rate := range []int{-8000, 0, 1 << 30} {
		stream, err := s.newStreamer(t).Open(t.Context(), conversation.Hearing{Rate: rate})
		if err == nil {
			_ = stream.Write(make([]int16, 160))
			_ = stream.Force()
			err = s.fails(t, "the result of an impossible rate", stream)
			_ = stream.Close()
		}
		if callwright.CodeOf(err) != callwright.CodeBadRequest {
			t.Errorf("rate %d: error %v", rate, err)
		}
	}
}
