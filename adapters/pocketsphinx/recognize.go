package pocketsphinx

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
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
	grammarFile = "grammar.fsg"
	lexiconFile = "grammar.dict"
)

// task describes the recognition of an utterance.
type task struct {
	phrases []phrase
	consent bool // whether the phrases include consents and refusals
	loop    loop // of the expected answer; has no words if any words are expected
	narrow  bool // whether the audio was sampled at 8 kHz
}

// reading is the result of a decoder.
type reading struct {
	text  string
	score int // logarithm of the likelihood, in the units of Sphinx
}

// recognize returns the text of audio at modelRate. It returns a matching phrase, or the words of the expected answer, or, if neither is
// believable, the dictated words.
func (r *Recognizer) recognize(ctx context.Context, audio []int16, t task) (text string, err error) {
	if t.narrow {
		mirror(audio)
	}
	err = engine.Scratch("pocketsphinx", func(dir string) error {
		if err := write(dir, audioName+".raw", pcm.AppendBytes(nil, audio)); err != nil {
			return err
		}
		if err := write(dir, listFile, []byte(audioName+"\n")); err != nil {
			return err
		}
		if len(t.phrases) > 0 {
			read, err := r.follow(ctx, dir, r.words.grammar(t.phrases, t.consent), r.words.phraseLexicon(t.phrases))
			if text = understood(read.text, t.phrases); text != "" || err != nil {
				return err
			}
		}
		text, err = r.choose(ctx, dir, t.loop, len(audio)/(modelRate/framesPerSecond))
		return err
	})
	return text, err
}

// framesPerSecond is the number of frames per second that a decoder scores.
const framesPerSecond = 100

// choose returns the words of the expected answer, or the dictated words.
func (r *Recognizer) choose(ctx context.Context, dir string, l loop, frames int) (string, error) {
	var answer reading
	if len(l.words) > 0 {
		grammar, words := l.grammar()
		var err error
		if answer, err = r.follow(ctx, dir, grammar, r.words.lexicon("", words, narrow)); err != nil {
			return "", err
		}
	}
	dictated, err := r.run(ctx, dir,
		"-lm", filepath.Join(r.model, "en-us.lm.bin"), "-dict", filepath.Join(r.model, "cmudict-en-us.dict"))
	if l.believes(answer, dictated, frames) {
		return answer.text, err
	}
	return dictated.text, err
}

// follow decodes the utterance with a grammar.
func (r *Recognizer) follow(ctx context.Context, dir, grammar, lexicon string) (reading, error) {
	if err := write(dir, grammarFile, []byte(grammar)); err != nil {
		return reading{}, err
	}
	if err := write(dir, lexiconFile, []byte(lexicon)); err != nil {
		return reading{}, err
	}
	return r.run(ctx, dir, "-fsg", grammarFile, "-dict", lexiconFile)
}

// mirror replaces the upper half of the spectrum of audio, which has none, with the mirror image of the lower half. The model expects energy
// there, above all in sibilants. Without it, about a tenth more digits are wrong.
func mirror(audio []int16) {
	for i := 1; i < len(audio); i += 2 {
		audio[i] = 0
	}
}

// run decodes the utterance with a language model or a grammar. It normalizes the features by the mean of the whole utterance ("-cmn
// batch"), which a live decoder cannot do. Without it, speech over G.711 is recognized as noise.
func (r *Recognizer) run(ctx context.Context, dir string, language ...string) (reading, error) {
	args := append([]string{
		"-hmm", filepath.Join(r.model, "en-us"), "-logfn", os.DevNull, "-cmn", "batch", "-remove_noise", "no",
		"-adcin", "yes", "-cepdir", ".", "-cepext", ".raw", "-ctl", listFile, "-hyp", resultFile,
	}, language...)
	if _, err := r.program.Run(ctx, dir, args...); err != nil {
		return reading{}, err
	}
	raw, err := os.ReadFile(filepath.Join(dir, resultFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return reading{}, failed(err)
	}
	return hypothesis(string(raw)), nil
}

// hypothesis parses a result line such as "no thank you (utterance -7500)".
func hypothesis(line string) reading {
	var score int
	if i := strings.LastIndex(line, "("+audioName); i >= 0 {
		score, _ = strconv.Atoi(strings.Trim(line[i+1+len(audioName):], " )\n"))
		line = line[:i]
	}
	return reading{strings.Join(strings.Fields(line), " "), score}
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
