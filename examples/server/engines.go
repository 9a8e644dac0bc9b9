package main

import (
	"context"

	"go.uber.org/fx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/espeak"
	"github.com/callwright/callwright/adapters/flite"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/adapters/pocketsphinx"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/speech/tts"
)

// engines are the providers that the server runs on, and their names for people.
type engines struct {
	Synthesizer tts.Engine
	Recognizer  conversation.Recognizer
	Model       llm.Model
	speaksBy    string
	hearsBy     string
	missing     error // what keeps calls from being made
}

// Ready refuses calls while an engine is missing.
func (e engines) Ready() error { return e.missing }

// newEngines takes the engines that the flags name, or the first that this machine has. A missing one does not keep
// the server from starting: everything but calls works, and calls say what to install.
func newEngines(lc fx.Lifecycle, c config) (engines, error) {
	service, err := openai.New(openai.Config{
		BaseURL: c.LLMBaseURL, Model: c.LLMModel, APIKey: callwright.Secret(c.LLMAPIKey),
	})
	if err != nil {
		return engines{}, err
	}
	lc.Append(fx.StopHook(service.Close))
	choice := llm.Selection{Default: scripted.New()}
	if c.LLMBaseURL != "" {
		choice.Default = service
	}
	if choice.Others, err = newModels(lc, c.LLMModels); err != nil {
		return engines{}, err
	}
	e := engines{Model: choice}
	if e.Synthesizer, e.speaksBy, err = newSynthesizer(c.TTS, service); err != nil {
		e.Synthesizer, e.missing = absent{err}, err
	}
	if e.Recognizer, e.hearsBy, err = newRecognizer(c.STT, service); err != nil {
		e.Recognizer, e.missing = absent{err}, both(e.missing, err)
	}
	return e, nil
}

// both is an error that says two things, either of which may be nil.
func both(first, second error) error {
	if first == nil {
		return second
	}
	return callwright.Errorf(callwright.CodeUnavailable, "%s; %s", callwright.MessageOf(first), callwright.MessageOf(second))
}

// newSynthesizer is the synthesizer of a name, or the first local one that is installed.
func newSynthesizer(name string, service *openai.Client) (s tts.Engine, used string, err error) {
	switch name {
	case "openai":
		return service, name, nil
	case "espeak":
		s, err = espeak.New(espeak.Config{})
		return s, name, err
	case "flite":
		s, err = flite.New(flite.Config{})
		return s, name, err
	}
	if s, used, err = newSynthesizer("flite", service); err == nil {
		return s, used, nil
	}
	if other, used, otherErr := newSynthesizer("espeak", service); otherErr == nil {
		return other, used, nil
	}
	return nil, "nothing", err
}

func newRecognizer(name string, service *openai.Client) (conversation.Recognizer, string, error) {
	if name == "openai" {
		return service, name, nil
	}
	r, err := pocketsphinx.New(pocketsphinx.Config{})
	if err != nil {
		return nil, "nothing", err
	}
	return r, "pocketsphinx", nil
}

// absent stands where an engine is missing, and says what to install.
type absent struct{ err error }

// Synthesize says what is missing.
func (a absent) Synthesize(context.Context, tts.Request) (tts.Stream, error) {
	return nil, a.err
}

// Describe describes an engine without a voice.
func (a absent) Describe() tts.Description { return tts.Description{Name: "none"} }

// CheckVoice takes every voice: agents can be made before an engine is installed.
func (a absent) CheckVoice(string, string) error { return nil }

// Listen says what is missing.
func (a absent) Listen(context.Context, conversation.Hearing) (conversation.Utterance, error) {
	return nil, a.err
}
