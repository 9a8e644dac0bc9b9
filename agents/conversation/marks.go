package conversation

import (
	"slices"
	"strings"
	"unicode"

	"github.com/callwright/callwright/speech/tts"
)

// word returns the first sample of the word that is spoken at a position, and the sample after the word. Between words, both results are the
// position. ok is false if the marks do not show the word.
func (c *clip) word(at int) (start, end int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := []rune(c.text)
	last, next := neighbors(text, c.marks, at, len(c.samples))
	marked := next.From < next.To
	switch {
	case marked && next.Start < at:
		return next.Start, next.End, true
	case len(c.marks) == 0, !marked && c.err == nil, hasWords(text[last.To:next.From]):
		return 0, 0, false
	default:
		return at, at, true
	}
}

// heard returns the words that were spoken completely before the position played. total is the number of all samples, or an estimate.
func (c *clip) heard(played, total int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return heardOf(c.text, c.marks, played, total)
}

// neighbors returns the last mark of a text that ends at or before a position, and the mark after it. It replaces a missing mark with an
// empty one at the beginning of the text, or at its end and the sample total.
func neighbors(text []rune, marks []tts.Mark, at, total int) (last, next tts.Mark) {
	i := slices.IndexFunc(marks, func(m tts.Mark) bool { return m.End > at })
	if i < 0 {
		i, next = len(marks), tts.Mark{From: len(text), To: len(text), Start: total, End: total}
	} else {
		next = marks[i]
	}
	if i > 0 {
		last = marks[i-1]
	}
	return last, next
}

// hasWords reports whether a text between marks contains words, whose places are therefore unknown.
func hasWords(text []rune) bool {
	return slices.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// heardOf returns the words of a text that were played completely, with their punctuation. It estimates words without marks by the number of
// letters between the marks. played and total count samples.
func heardOf(text string, marks []tts.Mark, played, total int) string {
	if played >= total {
		return text
	}
	runes := []rune(text)
	last, next := neighbors(runes, marks, played, total)
	end := next.From
	if hasWords(runes[last.To:next.From]) && played < next.Start {
		end = last.To + (next.From-last.To)*(played-last.End)/(next.Start-last.End)
	}
	for end > last.To && end < len(runes) && !unicode.IsSpace(runes[end]) {
		end--
	}
	return strings.TrimRightFunc(string(runes[:end]), unicode.IsSpace)
}
