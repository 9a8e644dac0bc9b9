package platform

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/cartesia"
	"github.com/callwright/callwright/adapters/deepgram"
	"github.com/callwright/callwright/adapters/elevenlabs"
	"github.com/callwright/callwright/adapters/espeak"
	"github.com/callwright/callwright/adapters/flite"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/speech/tts"
)

// The values of --tts. The streamed voices are services with an address, a key and a voice.
var (
	synthesizers   = append([]string{"flite", "espeak", "openai"}, streamedVoices...)
	streamedVoices = []string{"elevenlabs", "cartesia", "deepgram"}
)

// checkVoice returns an error for an unknown synthesizer, and for settings that the synthesizer does not use or lacks.
func (c *Config) checkVoice() error {
	streamed := slices.Contains(streamedVoices, c.TTS)
	voice, _ := c.voice()
	switch {
	case c.TTS != "" && !slices.Contains(synthesizers, c.TTS):
		return fmt.Errorf("--tts must be one of %s", strings.Join(synthesizers, ", "))
	case !streamed && (c.TTSURL != "" || c.TTSAPIKey != ""):
		return fmt.Errorf("--tts-url and --tts-api-key require --tts %s", strings.Join(streamedVoices, ", or "))
	case !streamed && c.TTS != "openai" && (c.TTSModel != "" || c.TTSVoice != ""):
		return fmt.Errorf("--tts-model and --tts-voice require --tts openai, %s", strings.Join(streamedVoices, ", or "))
	case (c.TTS == "elevenlabs" || c.TTS == "cartesia") && voice == "":
		return fmt.Errorf("--tts %s requires --tts-voice, the id of a voice of the service", c.TTS)
	case c.TTS == "deepgram" && c.TTSModel != "":
		return errors.New("--tts deepgram has no --tts-model: its voices are models, which --tts-voice names")
	}
	return nil
}

// voice returns the default voice and the further voices that --tts-voice names.
func (c *Config) voice() (standard string, others []string) {
	for name := range strings.SplitSeq(c.TTSVoice, ",") {
		if name = strings.TrimSpace(name); name != "" {
			others = append(others, name)
		}
	}
	if len(others) == 0 {
		return "", nil
	}
	return others[0], others[1:]
}

// newSynthesizer returns the synthesizer that --tts names, and its name. Without --tts, it returns flite if that is installed, or else
// espeak. If neither is installed, it returns the error about flite.
func newSynthesizer(c Config, service *openai.Client, runtime callwright.Runtime) (s tts.Engine, used string, err error) {
	voice, voices := c.voice()
	switch c.TTS {
	case "openai":
		return service, c.TTS, nil
	case "elevenlabs":
		s, err = elevenlabs.New(elevenlabs.Config{BaseURL: c.TTSURL, APIKey: c.TTSAPIKey, Model: c.TTSModel, Voice: voice, Voices: voices, Runtime: runtime})
		return s, c.TTS, err
	case "cartesia":
		s, err = cartesia.New(cartesia.Config{BaseURL: c.TTSURL, APIKey: c.TTSAPIKey, Model: c.TTSModel, Voice: voice, Voices: voices, Runtime: runtime})
		return s, c.TTS, err
	case "deepgram":
		s, err = deepgram.NewVoice(deepgram.VoiceConfig{BaseURL: c.TTSURL, APIKey: c.TTSAPIKey, Voice: voice, Voices: voices, Runtime: runtime})
		return s, c.TTS, err
	case "espeak":
		s, err = espeak.New(espeak.Config{})
		return s, c.TTS, err
	case "flite":
		s, err = flite.New(flite.Config{})
		return s, c.TTS, err
	}
	s, err = flite.New(flite.Config{})
	if err == nil {
		return s, "flite", nil
	}
	if other, otherErr := espeak.New(espeak.Config{}); otherErr == nil {
		return other, "espeak", nil
	}
	return nil, "nothing", err
}
