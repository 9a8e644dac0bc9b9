// Package pocketsphinx recognizes English speech with PocketSphinx, a recognizer that runs as a local program (Debian: apt-get install
// pocketsphinx pocketsphinx-en-us).
//
// Its models were trained on 16 kHz audio, of which a telephone lacks the upper half. Free dictation over G.711 is of demo quality: on
// synthetic speech about two words in five are wrong. If conversation.Hearing contains the expected phrases, the recognizer first compares
// the audio with these phrases, with frequent other words and with a model of all other sounds. That is accurate on the same speech. If
// Hearing.Expect describes an expected answer, such as digits, the recognizer then compares the audio with all such answers and with
// dictation, and returns the more likely words. Otherwise it returns the words of dictation. It cannot use keywords.
package pocketsphinx

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/internal/engine"
)

const (
	install      = "apt-get install pocketsphinx pocketsphinx-en-us (Debian, Ubuntu), brew install cmu-pocketsphinx (macOS)"
	modelRate    = 16000       // samples per second
	maxUtterance = time.Minute // longer utterances are cut off
	maxRun       = time.Minute // a program that runs for longer is killed
)

// models lists the folders in which packages install the model of American English.
var models = []string{
	"/usr/share/pocketsphinx/model/en-us",
	"/usr/local/share/pocketsphinx/model/en-us",
	"/opt/homebrew/share/pocketsphinx/model/en-us",
}

// Config configures a Recognizer. The zero Config is valid.
type Config struct {
	Path     string // the program; if empty, pocketsphinx_batch on the PATH
	Model    string // the folder with en-us, en-us.lm.bin and cmudict-en-us.dict; if empty, where packages install it
	Parallel int    // the number of concurrent processes; 0 means GOMAXPROCS
}

// Recognizer recognizes speech with PocketSphinx. It implements conversation.Recognizer and conversation.OrgRecognizers.
type Recognizer struct {
	program *engine.Program
	model   string
	words   dictionary
}

var (
	_ conversation.Recognizer     = (*Recognizer)(nil)
	_ conversation.OrgRecognizers = (*Recognizer)(nil)
)

// New finds the program and its model, and reads the dictionary. It returns CodeUnavailable if either is missing, and the error names the
// package to install.
func New(config Config) (*Recognizer, error) {
	if config.Parallel <= 0 {
		config.Parallel = runtime.GOMAXPROCS(0)
	}
	program, err := engine.Find(config.Path, []string{"pocketsphinx_batch"}, install, config.Parallel)
	if err != nil {
		return nil, err
	}
	r := &Recognizer{program: program.For("", maxRun), model: config.Model}
	for _, folder := range models {
		if _, err := os.Stat(folder); r.model == "" && err == nil {
			r.model = folder
		}
	}
	raw, err := os.ReadFile(filepath.Join(r.model, "cmudict-en-us.dict"))
	switch {
	case err == nil:
	case r.model == "":
		return nil, callwright.Errorf(callwright.CodeUnavailable, "PocketSphinx's English model is not installed: %s", install).Because(err)
	default:
		return nil, callwright.Errorf(callwright.CodeUnavailable,
			"the folder %s must contain PocketSphinx's English model, with a readable cmudict-en-us.dict: %s", r.model, install).Because(err)
	}
	r.words = readDictionary(string(raw))
	return r, nil
}

// RecognizerOf returns the recognizer of an organization, whose processes share the limit Config.Parallel with the other organizations: an
// organization without a process waits at most until one process of the others ends.
func (r *Recognizer) RecognizerOf(org callwright.OrgID) conversation.Recognizer {
	own := *r
	own.program = r.program.For(string(org), maxRun)
	return &own
}

// CheckLanguage returns CodeBadRequest for languages other than English, which the model requires. It accepts an empty language.
func (*Recognizer) CheckLanguage(language string) error {
	if broad, _, _ := strings.Cut(strings.ToLower(language), "-"); broad != "" && broad != "en" {
		return callwright.Invalid("language", "must be English, such as en or en-US, the only language that PocketSphinx recognizes, not %q", language)
	}
	return nil
}

// Listen starts an utterance with the phrases and the expected answer of h as hints. It returns CodeBadRequest for the field "language" if the language is not
// English.
func (r *Recognizer) Listen(ctx context.Context, h conversation.Hearing) (conversation.Utterance, error) {
	if err := r.CheckLanguage(h.Language); err != nil {
		return nil, err
	}
	hints, consent := h.Phrases, h.Expect.Kind == expect.YesNo
	if consent {
		hints = slices.Concat(hints, consents)
	}
	t := task{phrases: r.words.phrases(hints), consent: consent, loop: loops[h.Expect.Kind], narrow: h.Rate == modelRate/2}
	return engine.Listen(ctx, h.Rate, engine.Ear{
		Rate: modelRate, Longest: maxUtterance,
		Recognize: func(ctx context.Context, audio []int16) (string, error) { return r.recognize(ctx, audio, t) },
	})
}
