package platform

import (
	"context"
	"fmt"
	"strings"

	"go.uber.org/fx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/audiofile"
	"github.com/callwright/callwright/adapters/gemini"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/adapters/pocketsphinx"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/speech/tts"
)

// engines contains the names of the speech engines in use, human-readable.
type engines struct {
	speaksBy string
	hearsBy  string
	missing  error // error about a missing engine, without which no calls are possible; may be nil
}

// newModel returns the program's model, or a selection of the models in the settings. Without --llm-base-url, the default of the selection
// is the scripted model.
func newModel(lc fx.Lifecycle, c Config, service *openai.Client, meter modelMeter, runtime callwright.Runtime) (llm.Model, error) {
	if c.Model != nil {
		return c.Model, nil
	}
	choice := llm.SelectionConfig{
		Default: scripted.New(), Others: make(map[string]llm.Model, len(c.LLMModels)), Fallback: c.LLMFallback, Runtime: runtime,
	}
	if c.LLMBaseURL != "" {
		choice.Default = metered{service, meter}
		if protocol, _, _ := splitProtocol(c.LLMBaseURL); protocol != protocolOpenAI {
			model, err := newClient(lc, NamedModel{Model: c.LLMModel, BaseURL: c.LLMBaseURL, Key: c.LLMAPIKey}, runtime)
			if err != nil {
				return nil, fmt.Errorf("--llm-base-url: %w", err)
			}
			choice.Default = metered{model, meter}
		}
	}
	for _, m := range c.LLMModels {
		other, err := newClient(lc, m, runtime)
		if err != nil {
			return nil, fmt.Errorf("--llm-models %s: %w", m.Name, err)
		}
		choice.Others[m.Name] = metered{other, meter}
	}
	return llm.NewSelection(choice)
}

// newClient returns the client of a model's service, for the protocol that its base URL names.
func newClient(lc fx.Lifecycle, m NamedModel, runtime callwright.Runtime) (llm.Model, error) {
	protocol, address, err := splitProtocol(m.BaseURL)
	if err != nil {
		return nil, err
	}
	var client interface {
		llm.Model
		Close()
	}
	switch protocol {
	case protocolAnthropic:
		client, err = anthropic.New(anthropic.Config{BaseURL: address, Model: m.Model, APIKey: m.Key, Runtime: runtime})
	case protocolGemini:
		client, err = gemini.New(gemini.Config{BaseURL: address, Model: m.Model, APIKey: m.Key, Runtime: runtime})
	default:
		client, err = openai.New(openai.Config{BaseURL: address, Model: m.Model, APIKey: m.Key, Runtime: runtime})
	}
	if err != nil {
		return nil, err
	}
	lc.Append(fx.StopHook(client.Close))
	return client, nil
}

// newService returns a client for --llm-base-url, which may provide models, speech synthesis and recognition. If that address names another
// protocol, the client has no purpose.
func newService(lc fx.Lifecycle, c Config, runtime callwright.Runtime) (*openai.Client, error) {
	_, address, err := splitProtocol(c.LLMBaseURL)
	if err != nil {
		return nil, err
	}
	config := openai.Config{
		BaseURL: address, Model: c.LLMModel, APIKey: c.LLMAPIKey, Transcription: c.transcription(),
		Decoder: audiofile.Decoder{Opus: opusDecoder}, Runtime: runtime,
	}
	if c.TTS == "openai" {
		config.SpeechModel = c.TTSModel
		if config.Voice, config.Voices = c.voice(); len(config.Voices) == 0 {
			config.Voices = nil // OpenAI's documented voices
		}
	}
	service, err := openai.New(config)
	if err == nil {
		lc.Append(fx.StopHook(service.Close))
	}
	return service, err
}

// transcription returns the name of the recognition model at --llm-base-url, or "" for the adapter's default.
func (c Config) transcription() string {
	if strings.HasPrefix(c.STT, "openai") {
		return c.STTModel
	}
	return ""
}

// hasModel reports whether Config.Model or --llm-base-url replaces the scripted model as the default model.
func (c Config) hasModel() bool { return c.Model != nil || c.LLMBaseURL != "" }

// Ready returns an error while an engine is missing, so that calls are refused.
func (e engines) Ready() error { return e.missing }

// spoken provides the speech engines of a platform.
type spoken struct {
	fx.Out
	SpeechEngine tts.Engine
	Recognizer   conversation.Recognizer
	Engines      engines
}

// newEngines returns the program's engines, the engines in the settings, or else the first installed ones. The platform also starts if an
// engine is missing. Calls and API requests that need the engine then fail with an error that names the program to install.
func newEngines(c Config, service *openai.Client, runtime callwright.Runtime) (e spoken) {
	var err error
	e.SpeechEngine, e.Recognizer = c.SpeechEngine, c.Recognizer
	if e.SpeechEngine != nil {
		e.Engines.speaksBy = e.SpeechEngine.Describe().Name
	} else if e.SpeechEngine, e.Engines.speaksBy, err = newSynthesizer(c, service, runtime); err != nil {
		e.SpeechEngine, e.Engines.missing = absent{err}, err
	}
	if e.Recognizer != nil {
		e.Engines.hearsBy = "the program's recognizer"
	} else if e.Recognizer, e.Engines.hearsBy, err = newRecognizer(c, service); err != nil {
		e.Recognizer, e.Engines.missing = absent{err}, both(e.Engines.missing, err)
	}
	return e
}

// both joins the messages of two errors in an error with CodeUnavailable. If the first error is nil, it returns the second error unchanged.
func both(first, second error) error {
	if first == nil {
		return second
	}
	return callwright.Errorf(callwright.CodeUnavailable, "%s; %s", callwright.MessageOf(first), callwright.MessageOf(second))
}

// newRecognizer returns the recognizer that --stt names, and its name.
func newRecognizer(c Config, service *openai.Client) (r conversation.Recognizer, used string, err error) {
	switch c.STT {
	case "openai":
		return service, c.STT, nil
	case "openai-realtime":
		return service.Realtime(), c.STT, nil
	}
	if open, ok := recognizers[c.STT]; ok {
		r, err = open(c)
		return r, c.STT, err
	}
	if r, err = pocketsphinx.New(pocketsphinx.Config{}); err != nil {
		return nil, "nothing", err
	}
	return r, "pocketsphinx", nil
}

// absent replaces a missing engine. Its error names the program to install.
type absent struct{ err error }

// Synthesize returns the error about the missing engine, without any audio.
func (a absent) Synthesize(context.Context, tts.Request) (tts.Stream, error) {
	return nil, a.err
}

// Describe returns the description of an engine named "none", without voices.
func (a absent) Describe() tts.Description { return tts.Description{Name: "none"} }

// CheckVoice accepts every voice, so that agents can be created before an engine is installed.
func (a absent) CheckVoice(string, string) error { return nil }

// Listen returns the error about the missing engine, without an utterance.
func (a absent) Listen(context.Context, conversation.Hearing) (conversation.Utterance, error) {
	return nil, a.err
}
