package speechtest_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

// german is an engine that speaks German only, and one text at a time.
type german struct {
	speechtest.Engine

	busy chan struct{} // contains a value while the engine speaks
}

func (g *german) Describe() tts.Description {
	d := g.Engine.Describe()
	d.Voices, d.Default = d.Voices[2:], d.Voices[2].Name
	return d
}

func (g *german) CheckVoice(voice, language string) error {
	if voice == "ada" || voice == "ben" {
		return callwright.Invalid("voice", "unknown")
	}
	if voice == "" {
		voice = g.Describe().Default
	}
	return g.Engine.CheckVoice(voice, language)
}

func (g *german) Synthesize(ctx context.Context, r tts.Request) (tts.Stream, error) {
	if err := g.CheckVoice(r.Voice, r.Language); err != nil {
		return nil, err
	}
	if r.Voice == "" {
		r.Voice = g.Describe().Default
	}
	select {
	case g.busy <- struct{}{}:
	default:
		return nil, callwright.Errorf(callwright.CodeUnavailable, "the engine speaks already")
	}
	s, err := g.Engine.Synthesize(ctx, r)
	if err != nil {
		<-g.busy
		return nil, err
	}
	return &alone{Stream: s, free: func() { <-g.busy }}, nil
}

// alone is the stream of an engine that speaks one text at a time.
type alone struct {
	tts.Stream

	free func()
}

func (a *alone) Close() error {
	if a.free != nil {
		a.free()
		a.free = nil
	}
	return a.Stream.Close()
}

// TestRunEngineTakesFeatures checks that RunEngine accepts an engine that speaks German only, and one text at a time, if its features
// declare so.
func TestRunEngineTakesFeatures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		newEngine := func() tts.Engine {
			return &german{Engine: speechtest.Engine{Delay: time.Second}, busy: make(chan struct{}, 1)}
		}
		features := speechtest.SpeechFeatures{
			Short: "Guten Morgen.", Long: strings.Repeat("Wir haben bis sechs Uhr ge\u00f6ffnet. ", 3), Language: "de-DE", Streams: 1,
		}
		if failed := speechtest.CheckEngine(t.Context(), newEngine, features); len(failed) > 0 {
			t.Errorf("fails %q", failed)
		}
		failed := speechtest.CheckEngine(t.Context(), newEngine, speechtest.SpeechFeatures{})
		if len(failed["longer text, longer audio"]) == 0 || len(failed["side by side"]) == 0 {
			t.Errorf("without features it fails only %q", failed)
		}
	})
}

// stuck is an engine whose selected operations block until released is closed, even if their context ends.
type stuck struct {
	speechtest.Engine

	synthesizes, reads, describes bool // the operations that block
	released                      chan struct{}
	nothing                       bool // Read always returns 0 samples without an error
}

func (s *stuck) Describe() tts.Description {
	if s.describes {
		<-s.released
	}
	return s.Engine.Describe()
}

func (s *stuck) Synthesize(ctx context.Context, r tts.Request) (tts.Stream, error) {
	if s.synthesizes {
		<-s.released
	}
	stream, err := s.Engine.Synthesize(ctx, r)
	return &stuckStream{stream, s}, err
}

type stuckStream struct {
	tts.Stream

	engine *stuck
}

func (s *stuckStream) Read(p []int16) (int, error) {
	if s.engine.reads {
		<-s.engine.released
	}
	if s.engine.nothing {
		return 0, nil
	}
	return s.Stream.Read(p)
}

// TestRunEngineIsBounded checks that each test of the suite ends although the engine hangs, returns endless audio or violates the contract
// of Read, and that a report describes the engine's fault.
func TestRunEngineIsBounded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		make   func(s *stuck)
		report string // expected part of the report
	}{
		"hangs until its context ends": {func(s *stuck) { s.Hangs = true }, "hangs: the test goes on after 2m0s"},
		"hangs in Read":                {func(s *stuck) { s.reads = true }, "hangs: the test goes on after 2m0s"},
		"hangs in Synthesize":          {func(s *stuck) { s.synthesizes = true }, "hangs: the test goes on after 2m0s"},
		"hangs in Describe":            {func(s *stuck) { s.describes = true }, "hangs: the test goes on after 2m0s"},
		"returns endless audio":        {func(s *stuck) { s.Endless = true }, "endless: it has not ended after 480000 samples"},
		"reads nothing":                {func(s *stuck) { s.nothing = true }, "neither samples nor an error"},
		"overstates what it reads":     {func(s *stuck) { s.Overstates = true }, "samples of at most 333"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				released := make(chan struct{})
				failed := speechtest.CheckEngine(t.Context(), func() tts.Engine {
					s := &stuck{released: released}
					test.make(s)
					return s
				}, speechtest.SpeechFeatures{})
				close(released)
				var all []string
				for _, reports := range failed {
					all = append(all, reports...)
				}
				if !strings.Contains(strings.Join(all, "\n"), test.report) {
					t.Errorf("no test reports %q; failed: %q", test.report, failed)
				}
			})
		})
	}
}
