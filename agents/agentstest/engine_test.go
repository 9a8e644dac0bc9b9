package agentstest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

func TestSynthesizer(t *testing.T) { //nolint:paralleltest // the suite looks for leaked goroutines
	speechtest.RunSynthesizer(t, speechtest.SynthesizerHarness{
		New:      func(*testing.T) tts.Synthesizer { return &agentstest.Synthesizer{} },
		AnyVoice: true,
	})
	speechtest.RunSynthesizer(t, speechtest.SynthesizerHarness{
		New:      func(*testing.T) tts.Synthesizer { return &agentstest.Synthesizer{Mark: agentstest.VoiceMarks} },
		AnyVoice: true, Features: speechtest.SpeechFeatures{Marks: true},
	})
}

func TestRecognizer(t *testing.T) { //nolint:paralleltest // the suite looks for leaked goroutines
	agentstest.RunRecognizer(t, agentstest.RecognizerHarness{
		New:   func(*testing.T) conversation.Recognizer { return &agentstest.Recognizer{} },
		Speak: func(_ *testing.T, text string) ([]int16, int) { return agentstest.Voice(text, 8000), 8000 },
	})
}

// forgetful is a recognizer that omits the last word, as real recognizers sometimes do.
type forgetful struct{ agentstest.Recognizer }

func (f *forgetful) Listen(ctx context.Context, h conversation.Hearing) (conversation.Utterance, error) {
	u, err := f.Recognizer.Listen(ctx, h)
	return missing{u}, err
}

type missing struct{ conversation.Utterance }

func (m missing) Finish(ctx context.Context) (conversation.Recognized, error) {
	heard, err := m.Utterance.Finish(ctx)
	heard.Text = heard.Text[:max(0, strings.LastIndex(heard.Text, " "))]
	return heard, err
}

func TestForgetfulRecognizer(t *testing.T) { //nolint:paralleltest // the suite looks for leaked goroutines
	agentstest.RunRecognizer(t, agentstest.RecognizerHarness{
		New:   func(*testing.T) conversation.Recognizer { return &forgetful{} },
		Speak: func(_ *testing.T, text string) ([]int16, int) { return agentstest.Voice(text, 8000), 8000 },
		Words: 0.5, Language: "de-DE",
		Sentences: []string{"Guten Tag.", "Ich habe eine Frage zu meiner Rechnung.", "Auf Wiedersehen."},
	})
}

func TestStreamingRecognizer(t *testing.T) { //nolint:paralleltest // the suite looks for leaked goroutines
	harness := agentstest.RecognizerHarness{
		New:   func(*testing.T) conversation.Recognizer { return &agentstest.StreamingRecognizer{} },
		Speak: func(_ *testing.T, text string) ([]int16, int) { return agentstest.Voice(text, 8000), 8000 },
	}
	agentstest.RunRecognizer(t, harness)
	agentstest.RunStreamer(t, func(*testing.T) conversation.Streamer { return &agentstest.StreamingRecognizer{} }, harness)
}

func TestBatch(t *testing.T) { //nolint:paralleltest // the suite looks for leaked goroutines
	agentstest.RunStreamer(t, func(*testing.T) conversation.Streamer { return conversation.Batch(&agentstest.Recognizer{}) },
		agentstest.RecognizerHarness{
			Speak: func(_ *testing.T, text string) ([]int16, int) { return agentstest.Voice(text, 8000), 8000 },
		})
}
