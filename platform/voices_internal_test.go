package platform

import (
	"errors"
	"fmt"
	"testing"

	"go.uber.org/fx/fxtest"

	"github.com/callwright/callwright"
)

// TestVoices checks which synthesizer the settings name, and that settings without an effect are refused.
func TestVoices(t *testing.T) {
	t.Parallel()
	service, err := newService(fxtest.NewLifecycle(t), Config{}, callwright.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"openai": "*openai.Client", "elevenlabs": "*elevenlabs.Synthesizer", "cartesia": "*cartesia.Synthesizer", "deepgram": "*deepgram.Voice",
	} {
		c := Config{TTS: name, TTSVoice: "v, w", LLMBaseURL: "http://127.0.0.1:1/v1"}
		s, used, err := newSynthesizer(c, service, callwright.Runtime{})
		if err = errors.Join(err, c.checkEngines()); err != nil || used != name || fmt.Sprintf("%T", s) != want {
			t.Errorf("%s: %T, %s, %v", name, s, used, err)
			continue
		}
		if d := s.Describe(); name != "openai" && (d.Default != "v" || len(d.Voices) != 2 || d.Voices[1].Name != "w") {
			t.Errorf("%s: voices %+v", name, d)
		}
	}
	for _, c := range []Config{
		{TTS: "parrot"}, {TTS: "openai"}, {TTSURL: "wss://host"}, {TTS: "flite", TTSAPIKey: "k"}, {TTS: "flite", TTSVoice: "slt"},
		{TTS: "elevenlabs"}, {TTS: "cartesia"}, {TTS: "deepgram", TTSModel: "m"},
	} {
		if c.checkEngines() == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	if _, _, err := newSynthesizer(Config{TTS: "cartesia", TTSVoice: "v", TTSURL: "tcp://host"}, service, callwright.Runtime{}); err == nil {
		t.Error("an address of another protocol is accepted")
	}
}
