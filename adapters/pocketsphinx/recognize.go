package pocketsphinx

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/internal/engine"
	"github.com/callwright/callwright/speech/pcm"
)

// The names of the files in the temporary folder of an utterance.
const (
	audioName   = "utterance" // followed by ".raw"
	listFile    = "list"
	resultFile  = "result"
	grammarFile = "phrases.fsg"
	lexiconFile = "phrases.dict"
)

// recognize returns the text of audio at modelRate. It returns a matching phrase, or, if none matches, the dictated words.
func (r *Recognizer) recognize(ctx context.Context, audio []int16, phrases []phrase) (text string, err error) {
	err = engine.Scratch("pocketsphinx", func(dir string) error {
		if err := write(dir, audioName+".raw", pcm.AppendBytes(nil, audio)); err != nil {
			return err
		}
		if err := write(dir, listFile, []byte(audioName+"\n")); err != nil {
			return err
		}
		if len(phrases) > 0 {
			if text, err = r.expect(ctx, dir, phrases); text != "" || err != nil {
				return err
			}
		}
		text, err = r.run(ctx, dir,
			"-lm", filepath.Join(r.model, "en-us.lm.bin"), "-dict", filepath.Join(r.model, "cmudict-en-us.dict"))
		return err
	})
	return text, err
}

// expect returns the phrase that the utterance matches, the words of several phrases in a row, or an empty text if the utterance matches no
// phrase.
func (r *Recognizer) expect(ctx context.Context, dir string, phrases []phrase) (string, error) {
	if err := write(dir, grammarFile, []byte(r.words.grammar(phrases))); err != nil {
		return "", err
	}
	if err := write(dir, lexiconFile, []byte(r.words.lexicon(phrases))); err != nil {
		return "", err
	}
	read, err := r.run(ctx, dir, "-fsg", grammarFile, "-dict", lexiconFile)
	return understood(read, phrases), err
}

// run decodes the utterance with a language model or a grammar. It normalizes the features by the mean of the whole utterance ("-cmn
// batch"), which a live decoder cannot do. Without it, speech over G.711 is recognized as noise.
func (r *Recognizer) run(ctx context.Context, dir string, language ...string) (string, error) {
	args := append([]string{
		"-hmm", filepath.Join(r.model, "en-us"), "-logfn", os.DevNull, "-cmn", "batch", "-remove_noise", "no",
		"-adcin", "yes", "-cepdir", ".", "-cepext", ".raw", "-ctl", listFile, "-hyp", resultFile,
	}, language...)
	if _, err := r.program.Run(ctx, dir, args...); err != nil {
		return "", err
	}
	raw, err := os.ReadFile(filepath.Join(dir, resultFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", failed(err)
	}
	return hypothesis(string(raw)), nil
}

// hypothesis returns the words of a result line such as "no thank you (utterance -7500)".
func hypothesis(line string) string {
	if i := strings.LastIndex(line, "("+audioName); i >= 0 {
		line = line[:i]
	}
	return strings.Join(strings.Fields(line), " ")
}

func write(dir, name string, content []byte) error {
	if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
		return failed(err)
	}
	return nil
}

func failed(cause error) error {
	return (&callwright.Error{Code: callwright.CodeUnavailable, Message: "the temporary files of PocketSphinx cannot be written or read"}).Because(cause)
}
