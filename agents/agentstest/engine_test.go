package agentstest_test

import (
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
)

func TestSynthesizer(t *testing.T) { //nolint:paralleltest // the suite looks for leaked goroutines
	agentstest.RunSynthesizer(t, agentstest.SynthesizerHarness{
		New:      func(*testing.T) conversation.Synthesizer { return &agentstest.Synthesizer{} },
		AnyVoice: true, AnyRate: true,
	})
}

func TestRecognizer(t *testing.T) { //nolint:paralleltest // the suite looks for leaked goroutines
	agentstest.RunRecognizer(t, agentstest.RecognizerHarness{
		New:     func(*testing.T) conversation.Recognizer { return &agentstest.Recognizer{} },
		Speak:   func(_ *testing.T, text string) ([]int16, int) { return agentstest.Voice(text, 8000), 8000 },
		AnyRate: true,
	})
}
