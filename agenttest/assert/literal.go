package assert

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// literals contains texts. Every match of a regular expression contains at least one of them. Searching for them is much faster than
// executing the expression, and most turns contain none of them. Without literals, every text may match.
type literals struct {
	texts  []string
	folded bool // case-insensitive: texts are folded
}

// maxLiterals is the maximum number of texts per expression. Searching for more of them is no faster than executing the expression.
const maxLiterals = 16

// literalsOf returns the literals of an expression.
func literalsOf(e *syntax.Regexp) literals {
	switch e.Op {
	case syntax.OpLiteral:
		return literalOf(e)
	case syntax.OpCapture, syntax.OpPlus:
		return literalsOf(e.Sub[0])
	case syntax.OpRepeat:
		if e.Min > 0 {
			return literalsOf(e.Sub[0])
		}
	case syntax.OpConcat:
		var best literals
		for _, sub := range e.Sub {
			if l := literalsOf(sub); l.shortest() > best.shortest() {
				best = l
			}
		}
		return best
	case syntax.OpAlternate:
		return anyOf(e.Sub)
	default:
	}
	return literals{}
}

// literalOf returns the text of a literal. It returns none if the literal contains the replacement character, because that also matches
// invalid bytes.
func literalOf(e *syntax.Regexp) literals {
	if slices.Contains(e.Rune, utf8.RuneError) {
		return literals{}
	}
	if e.Flags&syntax.FoldCase == 0 {
		return literals{texts: []string{string(e.Rune)}}
	}
	return literals{texts: []string{foldLiteral(string(e.Rune))}, folded: true}
}

// anyOf returns the literals of all alternatives together, or none if one alternative has no literals or there are too many.
func anyOf(alternatives []*syntax.Regexp) literals {
	var all literals
	for _, sub := range alternatives {
		l := literalsOf(sub)
		if len(l.texts) == 0 || len(all.texts)+len(l.texts) > maxLiterals {
			return literals{}
		}
		all.texts = append(all.texts, l.texts...)
		all.folded = all.folded || l.folded
	}
	if all.folded {
		for i, text := range all.texts {
			all.texts[i] = foldLiteral(text)
		}
	}
	return all
}

// foldLiteral replaces each character of a text by foldRune's result.
func foldLiteral(text string) string { return strings.Map(foldRune, text) }

// shortest returns the length of the shortest text in bytes, or 0 without texts.
func (l literals) shortest() int {
	shortest := 0
	for _, text := range l.texts {
		if shortest == 0 || len(text) < shortest {
			shortest = len(text)
		}
	}
	return shortest
}

// mayMatch reports whether a text may contain a match. room is a buffer that mayMatch may use.
func (l literals) mayMatch(text string, room []byte) bool {
	if len(l.texts) == 0 {
		return true
	}
	if !l.folded {
		return slices.ContainsFunc(l.texts, func(literal string) bool { return strings.Contains(text, literal) })
	}
	if !ascii(text) {
		return true
	}
	room = folding{letterCase: true}.fold(room, text)
	return slices.ContainsFunc(l.texts, func(literal string) bool { return bytes.Contains(room, []byte(literal)) })
}
