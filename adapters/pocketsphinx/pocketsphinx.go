// Package pocketsphinx recognizes English speech with PocketSphinx, a recognizer that runs as a local program (Debian:
// apt-get install pocketsphinx pocketsphinx-en-us).
//
// Its models were made for 16 kHz, and a telephone lacks the upper half of that. Free dictation over G.711 is of demo
// quality: on synthetic speech about two words in five are wrong. When the expected phrases are known, from
// conversation.Hearing, they are recognized first, against a model of any other sounds; that is exact on the
// same speech. Only other speech is left to dictation.
package pocketsphinx

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine"
)

const (
	install      = "apt-get install pocketsphinx pocketsphinx-en-us (Debian, Ubuntu), brew install cmu-pocketsphinx (macOS)"
	modelRate    = 16000       // samples a second
	maxUtterance = time.Minute // longer utterances are cut off
)

// models are the folders in which packages put the model of American English.
var models = []string{
	"/usr/share/pocketsphinx/model/en-us",
	"/usr/local/share/pocketsphinx/model/en-us",
	"/opt/homebrew/share/pocketsphinx/model/en-us",
}

// Config configures a Recognizer. The zero Config is valid.
type Config struct {
	Path     string // the program; empty: pocketsphinx_batch on the PATH
	Model    string // the folder with en-us, en-us.lm.bin and cmudict-en-us.dict; empty: where packages put it
	Parallel int    // the number of concurrent processes; 0: the number of processors
}

// Recognizer recognizes speech with PocketSphinx. It is a conversation.Recognizer.
type Recognizer struct {
	program *engine.Program
	model   string
	words   dictionary
}

var _ conversation.Recognizer = (*Recognizer)(nil)

// New finds the program and its model and reads the dictionary. It returns CodeUnavailable, with the package to install, when
// either is missing.
func New(config Config) (*Recognizer, error) {
	if config.Parallel <= 0 {
		config.Parallel = runtime.GOMAXPROCS(0)
	}
	program, err := engine.Find(config.Path, []string{"pocketsphinx_batch"}, install, config.Parallel)
	if err != nil {
		return nil, err
	}
	r := &Recognizer{program: program, model: config.Model}
	for _, folder := range models {
		if _, err := os.Stat(folder); r.model == "" && err == nil {
			r.model = folder
		}
	}
	raw, err := os.ReadFile(filepath.Join(r.model, "cmudict-en-us.dict"))
	if err != nil {
		return nil, callwright.Errorf(callwright.CodeUnavailable, "PocketSphinx has no model of English: %s", install).Because(err)
	}
	r.words = readDictionary(string(raw))
	return r, nil
}

// CheckLanguage refuses languages other than English, the language of the model.
func (*Recognizer) CheckLanguage(language string) error {
	if broad, _, _ := strings.Cut(strings.ToLower(language), "-"); broad != "" && broad != "en" {
		return callwright.Invalid("language", "PocketSphinx here understands English, not %q", language)
	}
	return nil
}

// Listen starts an utterance. Any language but English is CodeBadRequest with the field "language".
func (r *Recognizer) Listen(ctx context.Context, h conversation.Hearing) (conversation.Utterance, error) {
	if err := r.CheckLanguage(h.Language); err != nil {
		return nil, err
	}
	phrases := r.words.phrases(h.Phrases)
	return engine.Listen(ctx, h.Rate, engine.Ear{
		Rate: modelRate, Longest: maxUtterance,
		Recognize: func(ctx context.Context, audio []int16) (string, error) { return r.recognize(ctx, audio, phrases) },
	})
}
