package agentstest_test

import (
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
}

func TestRecognizer(t *testing.T) { //nolint:paralleltest // the suite looks for leaked goroutines
	agentstest.RunRecognizer(t, agentstest.RecognizerHarness{
		New:     func(*testing.T) conversation.Recognizer { return &agentstest.Recognizer{} },
		Speak:   func(_ *testing.T, text string) ([]int16, int) { return agentstest.Voice(text, 8000), 8000 },
		AnyRate: true,
	})
}
