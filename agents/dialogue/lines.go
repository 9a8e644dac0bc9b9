package dialogue

import (
	"cmp"
	"embed"
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/conversation/words"
)

// Lines contains the sentences that an agent says without a model.
type Lines struct {
	Repeat        string // said if the caller was not understood
	NotUnderstood string // said before the agent asks its question again, because the caller's words do not answer it
	StillThere    string // said if the caller is silent
	Goodbye       string // said before the agent ends a call with too much silence or noise
	Apology       string // said if the model has failed
	NotReached    string // said if a transfer has failed and the conversation continues
	GoAhead       string // said if the caller has asked the agent to stop, and the agent has nothing else to answer
	TakeYourTime  string // said if the caller asks the agent to wait
	Digits        string // said if a number has the wrong length; DigitsHeard stands for the number of digits that were heard
}

// DigitsHeard is the placeholder in Lines.Digits.
const DigitsHeard = "{n}"

// Filled returns the lines with sentences of the language in place of empty lines. The language is a BCP 47 tag; English replaces a language
// without sentences.
func (l Lines) Filled(language string) Lines {
	d := texts(language).lines
	return Lines{
		Repeat:        cmp.Or(l.Repeat, d["repeat"]),
		NotUnderstood: cmp.Or(l.NotUnderstood, d["not understood"]),
		StillThere:    cmp.Or(l.StillThere, d["still there"]),
		Goodbye:       cmp.Or(l.Goodbye, d["goodbye"]),
		Apology:       cmp.Or(l.Apology, d["apology"]),
		NotReached:    cmp.Or(l.NotReached, d["not reached"]),
		GoAhead:       cmp.Or(l.GoAhead, d["go ahead"]),
		TakeYourTime:  cmp.Or(l.TakeYourTime, d["take your time"]),
		Digits:        cmp.Or(l.Digits, d["digits"]),
	}
}

// Filler returns the words of a language with which an agent bridges the time until it can answer.
func Filler(language string) string { return texts(language).lines["filler"] }

//go:embed words/*.txt
var files embed.FS

// texts returns the texts of a language.
var texts = words.ByLanguage(files, parseTexts)

// languageTexts contains the texts of a language. Phrases are folded words: see words.Fold.
type languageTexts struct {
	lines  map[string]string
	wait   [][]string // requests to wait
	look   [][]string // beginnings of sentences that ask the agent to wait
	reason [][]string // beginnings of sentences that explain a request to wait
	around [][]string // words before and between these phrases that do not count
}

// parseTexts parses a file of texts: sections with a name in brackets, whose lines are phrases, or names and sentences.
func parseTexts(text string) *languageTexts {
	t := &languageTexts{lines: map[string]string{}}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = line
		case section == "[lines]":
			name, sentence, _ := strings.Cut(line, ": ")
			t.lines[name] = sentence
		case section == "[wait]":
			t.wait = append(t.wait, words.Fold(line))
		case section == "[look]":
			t.look = append(t.look, words.Fold(line))
		case section == "[reason]":
			t.reason = append(t.reason, words.Fold(line))
		case section == "[around]":
			t.around = append(t.around, words.Fold(line))
		}
	}
	return t
}

// longestWait is the maximum number of words of a request to wait.
const longestWait = 14

// AsksToWait reports whether a caller's words only ask the agent to wait, as "one moment, let me get my card" does.
func AsksToWait(language, text string) bool {
	t := texts(language)
	rest := words.Fold(text)
	if len(rest) > longestWait {
		return false
	}
	for asks := false; ; {
		if longest(t.look, rest) > 0 || asks && longest(t.reason, rest) > 0 {
			return true
		}
		n := longest(t.wait, rest)
		asks = asks || n > 0
		if n = max(n, longest(t.around, rest)); n == 0 {
			return asks && len(rest) == 0
		}
		rest = rest[n:]
	}
}

// longest returns the number of words of the longest phrase with which a text begins, or 0.
func longest(phrases [][]string, text []string) int {
	n := 0
	for _, p := range phrases {
		if len(p) > n && len(p) <= len(text) && slices.Equal(p, text[:len(p)]) {
			n = len(p)
		}
	}
	return n
}
