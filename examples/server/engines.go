package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/callwright/callwright/adapters/espeak"
	"github.com/callwright/callwright/adapters/flite"
	"github.com/callwright/callwright/adapters/pocketsphinx"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
)

// engines are the providers that the server runs on, and their names for people.
type engines struct {
	Synthesizer conversation.Synthesizer
	Recognizer  conversation.Recognizer
	Model       llm.Model
	names       map[string]string
	missing     error // what keeps calls from being made
}

// Ready refuses calls while an engine is missing.
func (e engines) Ready() error { return e.missing }

// newEngines takes the engines that the flags name, or the first that this machine has. A missing one does not keep
// the server from starting: everything but calls works, and calls say what to install.
func newEngines(c config) (engines, error) {
	e := engines{names: map[string]string{}}
	var err error
	if e.Model, err = newModel(c); err != nil {
		return e, err
	}
	e.names["model"] = e.Model.Name()
	if e.Synthesizer, e.names["speech synthesis"], err = newSynthesizer(c); err != nil {
		e.Synthesizer, e.missing = absent{err}, errors.Join(e.missing, err)
	}
	if e.Recognizer, e.names["speech recognition"], err = newRecognizer(c); err != nil {
		e.Recognizer, e.missing = absent{err}, errors.Join(e.missing, err)
	}
	return e, nil
}

func newModel(c config) (llm.Model, error) {
	if c.LLMBaseURL == "" {
		return scripted.New(), nil
	}
	return nil, errors.New("soon")
}

func newSynthesizer(c config) (s conversation.Synthesizer, name string, err error) {
	switch c.TTS {
	case "flite":
		s, err = flite.New(flite.Config{})
	case "espeak":
		s, err = espeak.New(espeak.Config{})
	case "":
		var errs error
		for _, name := range []string{"flite", "espeak"} {
			c.TTS = name
			if s, name, err := newSynthesizer(c); err == nil {
				return s, name, nil
			} else { //nolint:revive // the names are those of this attempt
				errs = errors.Join(errs, err)
			}
		}
		return nil, "none", errs
	default:
		err = fmt.Errorf("--tts: %q is none of flite, espeak and openai", c.TTS)
	}
	return s, c.TTS, err
}

func newRecognizer(c config) (r conversation.Recognizer, name string, err error) {
	switch c.STT {
	case "", "pocketsphinx":
		r, err = pocketsphinx.New(pocketsphinx.Config{})
		return r, "pocketsphinx", err
	default:
		err = fmt.Errorf("--stt: %q is neither pocketsphinx nor openai", c.STT)
	}
	return r, c.STT, err
}

// absent stands where an engine is missing, and says what to install.
type absent struct{ err error }

func (a absent) Synthesize(context.Context, conversation.Speech) (conversation.AudioStream, error) {
	return nil, a.err
}

func (a absent) Listen(context.Context, conversation.Hearing) (conversation.Utterance, error) {
	return nil, a.err
}
