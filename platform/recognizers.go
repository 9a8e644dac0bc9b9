package platform

import (
	"maps"
	"slices"
	"strings"

	"github.com/callwright/callwright/adapters/assemblyai"
	"github.com/callwright/callwright/adapters/cartesia"
	"github.com/callwright/callwright/adapters/deepgram"
	"github.com/callwright/callwright/adapters/elevenlabs"
	"github.com/callwright/callwright/adapters/sherpaserver"
	"github.com/callwright/callwright/adapters/vosk"
	"github.com/callwright/callwright/adapters/wyoming"
	"github.com/callwright/callwright/agents/conversation"
)

// recognizers contains the recognizers with an address of their own, by the name that Config.STT selects.
var recognizers = map[string]func(Config) (conversation.Recognizer, error){
	"assemblyai": func(c Config) (conversation.Recognizer, error) {
		return assemblyai.New(assemblyai.Config{BaseURL: c.STTURL, APIKey: c.STTAPIKey, Model: c.STTModel})
	},
	"cartesia": func(c Config) (conversation.Recognizer, error) {
		return cartesia.NewRecognizer(cartesia.RecognizerConfig{BaseURL: c.STTURL, APIKey: c.STTAPIKey, Model: c.STTModel})
	},
	"deepgram": func(c Config) (conversation.Recognizer, error) {
		return deepgram.New(deepgram.Config{BaseURL: c.STTURL, APIKey: c.STTAPIKey, Model: c.STTModel})
	},
	"elevenlabs": func(c Config) (conversation.Recognizer, error) {
		return elevenlabs.NewRecognizer(elevenlabs.RecognizerConfig{BaseURL: c.STTURL, APIKey: c.STTAPIKey, Model: c.STTModel})
	},
	"sherpa-offline": func(c Config) (conversation.Recognizer, error) {
		return sherpaserver.NewOffline(sherpaserver.Config{URL: c.STTURL})
	},
	"sherpa-online": func(c Config) (conversation.Recognizer, error) {
		return sherpaserver.NewOnline(sherpaserver.Config{URL: c.STTURL})
	},
	"vosk": func(c Config) (conversation.Recognizer, error) {
		return vosk.New(vosk.Config{URL: c.STTURL})
	},
	"wyoming": func(c Config) (conversation.Recognizer, error) {
		return wyoming.New(wyoming.Config{URL: c.STTURL, Model: c.STTModel})
	},
}

// recognizerNames returns the names of recognizers as words of an error.
func recognizerNames() string {
	names := slices.Sorted(maps.Keys(recognizers))
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
