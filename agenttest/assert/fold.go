package assert

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folding lists the differences between texts that a comparison ignores. A comparison always ignores the composition of characters: it
// compares texts in Unicode's form NFC.
type folding struct {
	letterCase bool // upper and lower case are equal, by simple case folding
	blanks     bool // a run of white space counts as one blank
}

// fold appends the normalized form of a text to a slice, and returns the extended slice. Comparisons use this form.
func (f folding) fold(to []byte, text string) []byte {
	if !ascii(text) {
		return f.foldRunes(to, norm.NFC.String(text))
	}
	inBlank := false
	for i := range len(text) {
		c := text[i]
		blank := f.blanks && (c == ' ' || '\t' <= c && c <= '\r')
		switch {
		case blank && inBlank:
			continue
		case blank:
			c = ' '
		case f.letterCase && 'a' <= c && c <= 'z':
			c -= 'a' - 'A'
		}
		inBlank = blank
		to = append(to, c)
	}
	return to
}

// foldRunes is like fold, for a text in NFC.
func (f folding) foldRunes(to []byte, text string) []byte {
	inBlank := false
	for _, r := range text {
		blank := f.blanks && unicode.IsSpace(r)
		switch {
		case blank && inBlank:
			continue
		case blank:
			r = ' '
		case f.letterCase:
			r = foldRune(r)
		}
		inBlank = blank
		to = utf8.AppendRune(to, r)
	}
	return to
}

// foldRune returns the smallest code point among the characters that differ from r only in letter case.
func foldRune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// ascii reports whether a text contains only ASCII characters.
func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
