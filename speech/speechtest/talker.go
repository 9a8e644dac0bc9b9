package speechtest

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

// talkerTests contains the tests of RunTalker.
var talkerTests = suite[talker]{
	{"pieces", speaksPieces},
	{"a piece at a time", speaksPieceByPiece},
	{"answers side by side", answersSideBySide},
	{"canceled answer", cancelsAnswer},
	{"answer canceled before", canceledBefore},
	{"invalid pieces", invalidPieces},
	{"ended answer", endedAnswer},
	{"closed", closedTalk},
	{"ends with its context", talkEndsWithContext},
	{"stream closed early", closesPiece},
}

// talker is the synthesizer under test, which may be a tts.Talker, and its features.
type talker struct {
	tts.Synthesizer
	SpeechFeatures
}

func (s talker) open(t reporter, rate int) tts.Talk {
	return tts.Open(t.Context(), s.Synthesizer, tts.Request{Rate: rate, Language: s.Language})
}

// RunTalker tests the tts.Talk that tts.Open returns for a synthesizer. Only New and Features of the harness are used. It must not run in
// parallel with other tests, because it checks for leaked goroutines.
func RunTalker(t *testing.T, h SynthesizerHarness) {
	t.Helper()
	f := h.Features.withDefaults()
	talkerTests.oneByOne(t, f.Patience, func(t *testing.T) talker {
		t.Helper()
		return talker{h.New(t), f}
	})
}

// hear returns the audio of a stream, which must end with io.EOF, and its marks, which must satisfy the rules of tts.Marker.
func hear(t reporter, text string, stream tts.Stream) []int16 {
	t.Helper()
	defer func() { _ = stream.Close() }()
	audio, err := drain(stream, maxSamples)
	if !errors.Is(err, io.EOF) {
		t.Fatalf("%q ends with %v, want io.EOF", text, err)
	}
	if marks := tts.MarksOf(stream); !slices.Equal(marks, tts.CleanMarks(text, marks, len(audio))) {
		t.Errorf("%q: the marks %+v of %d samples break the rules", text, marks, len(audio))
	}
	return audio
}

// wantSpeech checks that audio is audible and about as long as the text spoken on its own.
func (s talker) wantSpeech(t reporter, text string, rate int, audio []int16) {
	t.Helper()
	alone := len(say(t, s.Synthesizer, tts.Request{Text: text, Rate: rate, Language: s.Language}))
	if level(audio) < 0.005 || len(audio) < alone/2 || len(audio) > 2*alone {
		t.Errorf("%q: %d samples with the level %.4f, alone it takes %d", text, len(audio), level(audio), alone)
	}
}

func speaksPieces(t reporter, s talker) {
	for _, rate := range []int{8000, 22050} {
		talk := s.open(t, rate)
		for range 2 {
			a := talk.Answer(t.Context())
			texts := []string{s.Short, s.Long, s.Short}
			var streams []tts.Stream
			for _, text := range texts {
				streams = append(streams, a.Say(text))
			}
			a.End()
			for i, text := range texts {
				s.wantSpeech(t, text, rate, hear(t, text, streams[i]))
			}
		}
		_ = talk.Close()
	}
}

func speaksPieceByPiece(t reporter, s talker) {
	talk := s.open(t, 8000)
	defer func() { _ = talk.Close() }()
	a := talk.Answer(t.Context())
	for _, text := range []string{s.Short, " ", s.Long} {
		audio := hear(t, text, a.Say(text))
		if text != " " {
			s.wantSpeech(t, text, 8000, audio)
		} else if len(audio) > 8000 {
			t.Errorf("%q becomes %d samples", text, len(audio))
		}
	}
	a.End()
	a.End()
}

func answersSideBySide(t reporter, s talker) {
	talk := s.open(t, 8000)
	defer func() { _ = talk.Close() }()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			a := talk.Answer(t.Context())
			defer a.End()
			hear(t, s.Long, a.Say(s.Long))
			s.wantSpeech(t, s.Short, 8000, hear(t, s.Short, a.Say(s.Short)))
		})
	}
	all.Wait()
}

func cancelsAnswer(t reporter, s talker) {
	talk := s.open(t, 8000)
	defer func() { _ = talk.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	canceled, other := talk.Answer(ctx), talk.Answer(t.Context())
	first, second := canceled.Say(s.Long), canceled.Say(s.Long)
	if _, err := first.Read(make([]int16, 1)); err != nil {
		t.Fatal(err)
	}
	rest := other.Say(s.Short)
	other.End()
	cancel()
	soon(t, "reading canceled pieces", func() {
		for _, stream := range []tts.Stream{first, second, canceled.Say(s.Short)} {
			if audio, err := drain(stream, maxSamples); errors.Is(err, io.EOF) || len(audio) > 8000 {
				t.Errorf("%d more samples and %v after the answer was canceled", len(audio), err)
			}
			_ = stream.Close()
		}
	})
	canceled.End()
	s.wantSpeech(t, s.Short, 8000, hear(t, s.Short, rest))
	next := talk.Answer(t.Context())
	defer next.End()
	s.wantSpeech(t, s.Long, 8000, hear(t, s.Long, next.Say(s.Long)))
}

func canceledBefore(t reporter, s talker) {
	talk := s.open(t, 8000)
	defer func() { _ = talk.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := talk.Answer(ctx)
	defer a.End()
	_ = wantFailure(t, "an answer whose context has ended", a.Say(s.Short))
}

// wantFailure checks that a stream has no audio and ends with an error soon. It closes the stream.
func wantFailure(t reporter, what string, stream tts.Stream) (err error) {
	t.Helper()
	defer func() { _ = stream.Close() }()
	soon(t, what, func() {
		var audio []int16
		if audio, err = drain(stream, maxSamples); errors.Is(err, io.EOF) || len(audio) > 0 {
			t.Errorf("%s gives %d samples and %v", what, len(audio), err)
		}
	})
	return err
}

func invalidPieces(t reporter, s talker) {
	for field, r := range map[string]tts.Request{"rate": {Rate: pcm.MinRate - 1}, "tempo": {Rate: 8000, Prosody: tts.Prosody{Tempo: 9}}, "text": {Rate: 8000}} {
		talk := tts.Open(t.Context(), s.Synthesizer, r)
		a := talk.Answer(t.Context())
		text := s.Short
		if field == "text" {
			text = string(make([]byte, tts.MaxText+1))
		}
		err := wantFailure(t, "an invalid "+field, a.Say(text))
		if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != callwright.CodeBadRequest || e.Field != field {
			t.Errorf("error %v, want %v about %q", err, callwright.CodeBadRequest, field)
		}
		a.End()
		_ = talk.Close()
	}
}

func endedAnswer(t reporter, s talker) {
	talk := s.open(t, 8000)
	defer func() { _ = talk.Close() }()
	a := talk.Answer(t.Context())
	before := a.Say(s.Short)
	a.End()
	_ = wantFailure(t, "a piece after the end", a.Say(s.Short))
	s.wantSpeech(t, s.Short, 8000, hear(t, s.Short, before))
}

func closedTalk(t reporter, s talker) {
	talk := s.open(t, 8000)
	a := talk.Answer(t.Context())
	stream := a.Say(s.Long)
	if _, err := stream.Read(make([]int16, 1)); err != nil {
		t.Fatal(err)
	}
	soon(t, "closing", func() {
		for range 2 {
			if err := talk.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
		if _, err := drain(stream, maxSamples); errors.Is(err, io.EOF) {
			t.Errorf("the stream ends with %v after Close", err)
		}
	})
	_ = stream.Close()
	_ = wantFailure(t, "a piece after Close", a.Say(s.Short))
	a.End()
	late := talk.Answer(t.Context())
	_ = wantFailure(t, "an answer after Close", late.Say(s.Short))
	late.End()
}

func talkEndsWithContext(t reporter, s talker) {
	ctx, cancel := context.WithCancel(t.Context())
	talk := tts.Open(ctx, s.Synthesizer, tts.Request{Rate: 8000, Language: s.Language})
	defer func() { _ = talk.Close() }()
	a := talk.Answer(t.Context())
	defer a.End()
	stream := a.Say(s.Long)
	if _, err := stream.Read(make([]int16, 1)); err != nil {
		t.Fatal(err)
	}
	cancel()
	soon(t, "reading after the context has ended", func() {
		if audio, err := drain(stream, maxSamples); errors.Is(err, io.EOF) || len(audio) > 8000 {
			t.Errorf("%d more samples and %v after the context has ended", len(audio), err)
		}
	})
	_ = stream.Close()
}

func closesPiece(t reporter, s talker) {
	talk := s.open(t, 8000)
	defer func() { _ = talk.Close() }()
	a := talk.Answer(t.Context())
	defer a.End()
	closed, next := a.Say(s.Long), a.Say(s.Short)
	for range 2 {
		if err := closed.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	_ = wantFailure(t, "a closed stream", closed)
	s.wantSpeech(t, s.Short, 8000, hear(t, s.Short, next))
}
