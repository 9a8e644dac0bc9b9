package tts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callwright/callwright"
)

// Pronunciation replaces a word in texts to speak by a text that the engine pronounces as intended.
type Pronunciation struct {
	Word          string // one or more words, not blank, at most MaxWord characters
	Spoken        string // not blank, at most MaxSpoken characters
	CaseSensitive bool   // whether the case of letters must match
	Inside        bool   // whether Word is also replaced within a longer word
}

// The limits of a list of pronunciations. MaxWord and MaxSpoken count characters.
const (
	MaxPronunciations = 1000
	MaxWord           = 100
	MaxSpoken         = 200
	MaxGuide          = 64 << 10 // bytes of all texts together
)

// CheckPronunciations returns CodeBadRequest for a list that exceeds a limit or contains a blank text. The fields of its errors begin with
// field, for example "pronunciation_guide[2].word".
func CheckPronunciations(field string, list []Pronunciation) error {
	if len(list) > MaxPronunciations {
		return callwright.Invalid(field, "must have at most %d words", MaxPronunciations)
	}
	size := 0
	for i, p := range list {
		size += len(p.Word) + len(p.Spoken)
		for _, text := range []struct {
			name, text string
			most       int
		}{{"word", p.Word, MaxWord}, {"pronunciation", p.Spoken, MaxSpoken}} {
			if strings.TrimSpace(text.text) == "" || callwright.Longer(text.text, text.most) || !utf8.ValidString(text.text) {
				return callwright.Invalid(fmt.Sprintf("%s[%d].%s", field, i, text.name), "must have 1 to %d characters, and must not be blank", text.most)
			}
		}
	}
	if size > MaxGuide {
		return callwright.Invalid(field, "must have at most %d bytes", MaxGuide)
	}
	return nil
}

// Guide rewrites texts by a list of pronunciations. The nil Guide changes nothing. It is safe for concurrent use.
type Guide struct {
	byFirst map[rune][]guideWord // by the first letter in lower case; the longest words first
}

type guideWord struct {
	Pronunciation
	runes []rune
}

// NewGuide returns the Guide for a list that CheckPronunciations accepts. Where several words match, the longest one is replaced, and of
// equal words the first one.
func NewGuide(list []Pronunciation) *Guide {
	if len(list) == 0 {
		return nil
	}
	g := &Guide{byFirst: map[rune][]guideWord{}}
	for _, p := range list {
		word := guideWord{p, []rune(strings.TrimSpace(p.Word))}
		first := unicode.ToLower(word.runes[0])
		g.byFirst[first] = append(g.byFirst[first], word)
	}
	for _, words := range g.byFirst {
		slices.SortStableFunc(words, func(a, b guideWord) int { return cmp.Compare(len(b.runes), len(a.runes)) })
	}
	return g
}

// Rewrite returns a text with the words of the guide replaced. Replacements are not searched for further words. If the text would exceed
// MaxText bytes, the remaining words are not replaced.
func (g *Guide) Rewrite(text string) string {
	if g == nil {
		return text
	}
	return g.rewrite(text).text
}

// rewritten is a text with replaced words. from and to contain, for each rune of it, the range of runes in the written text that it replaces.
type rewritten struct {
	written, text string
	from, to      []int
}

func (g *Guide) rewrite(text string) rewritten {
	var out strings.Builder
	r := rewritten{written: text}
	runes := []rune(text)
	size := len(text)
	for i := 0; i < len(runes); {
		spoken, n := string(runes[i]), 1
		if word := g.match(runes, i); word != nil && size+len(word.Spoken)-len(string(word.runes)) <= MaxText {
			spoken, n = word.Spoken, len(word.runes)
			size += len(word.Spoken) - len(string(word.runes))
		}
		out.WriteString(spoken)
		for range utf8.RuneCountInString(spoken) {
			r.from, r.to = append(r.from, i), append(r.to, i+n)
		}
		i += n
	}
	r.text = out.String()
	return r
}

// marks returns the marks of the written text for the marks of the rewritten text. The spoken words that replace a word have one mark.
func (r rewritten) marks(spoken []Mark) (marks []Mark) {
	for _, m := range CleanMarks(r.text, spoken, math.MaxInt) {
		m.From, m.To = r.from[m.From], r.to[m.To-1]
		marks = appendMark(marks, m)
	}
	return CleanMarks(r.written, marks, math.MaxInt)
}

// match returns the word of the guide that begins at position i of a text, or nil if none does.
func (g *Guide) match(text []rune, i int) *guideWord {
	words := g.byFirst[unicode.ToLower(text[i])]
	for n := range words {
		if words[n].matches(text, i) {
			return &words[n]
		}
	}
	return nil
}

func (w *guideWord) matches(text []rune, i int) bool {
	end := i + len(w.runes)
	if end > len(text) {
		return false
	}
	for n, r := range w.runes {
		if r != text[i+n] && (w.CaseSensitive || unicode.ToLower(r) != unicode.ToLower(text[i+n])) {
			return false
		}
	}
	return w.Inside || (i == 0 || !joined(text[i-1], text[i])) && (end == len(text) || !joined(text[end-1], text[end]))
}

// joined reports whether two consecutive characters belong to one word.
func joined(a, b rune) bool { return inWord(a) && inWord(b) }

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
