package tts_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"go.uber.org/goleak"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

// TestTalk runs the suite for a synthesizer that is no Talker, with and without a style.
func TestTalk(t *testing.T) { //nolint:paralleltest // the suite looks for leaked goroutines
	defer goleak.VerifyNone(t)
	guide := tts.NewGuide([]tts.Pronunciation{{Word: "Good", Spoken: "Goood"}})
	for name, style := range map[string]func(tts.Synthesizer) tts.Synthesizer{
		"separate": func(s tts.Synthesizer) tts.Synthesizer { return s },
		"faster":   func(s tts.Synthesizer) tts.Synthesizer { return tts.Styled(s, tts.Prosody{Tempo: 1.1}, nil) },
		"guided":   func(s tts.Synthesizer) tts.Synthesizer { return tts.Styled(s, tts.Prosody{}, guide) },
	} {
		t.Run(name, func(t *testing.T) {
			speechtest.RunTalker(t, speechtest.SynthesizerHarness{
				New: func(*testing.T) tts.Synthesizer { return style(&agentstest.Synthesizer{}) },
			})
		})
	}
}

// failing is a Synthesizer that fails.
type failing struct{ err error }

// Synthesize implements tts.Synthesizer.
func (f failing) Synthesize(context.Context, tts.Request) (tts.Stream, error) { return nil, f.err }

// TestTalkFails checks that streams return the error of the synthesizer, and of Refuse.
func TestTalkFails(t *testing.T) {
	t.Parallel()
	want := errors.New("no voice")
	for name, talk := range map[string]tts.Talk{
		"synthesizer": tts.Open(t.Context(), failing{want}, tts.Request{Rate: 8000}), "refused": tts.Refuse(want),
	} {
		a := talk.Answer(t.Context())
		stream := a.Say("Hello")
		if n, err := stream.Read(make([]int16, 1)); n != 0 || !errors.Is(err, want) {
			t.Errorf("%s: %d, %v", name, n, err)
		}
		_ = stream.Close()
		a.End()
		_ = talk.Close()
		closed := a.Say("Hello")
		if _, err := closed.Read(make([]int16, 1)); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: %v after the end", name, err)
		}
		_ = closed.Close()
	}
}
