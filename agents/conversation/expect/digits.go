package expect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/callwright/callwright/agents/conversation/overlap"
	"github.com/callwright/callwright/agents/conversation/words"
)

// DigitsIn returns the digits in a text, in the order in which they are read: "double oh seven, twenty-one" is "00721". It understands
// digits, number words below a million, and words that repeat a digit, such as "triple". language is a BCP 47 tag or a language code of the
// API; the number words of English apply to languages without a data file.
//
// The first of several single digits after a full hundred does not belong to the hundred: "eight hundred five" is "805", and "eight hundred
// five six one" is "800561".
func DigitsIn(language, text string) string {
	var b strings.Builder
	all, rest := runs(language, text)
	for _, r := range all {
		if r.counts() || !rest && len(all) == 1 {
			b.WriteString(r.digits())
		}
	}
	return b.String()
}

// TrailingDigits returns the digits of the number at the end of a text. The number may contain fillers such as "um". TrailingDigits returns
// an empty text if the text ends with other words. See DigitsIn.
func TrailingDigits(language, text string) string {
	all, rest := runs(language, text)
	if len(all) == 0 {
		return ""
	}
	last := all[len(all)-1]
	if !last.trailing || !last.counts() && (rest || len(all) > 1) {
		return ""
	}
	return last.digits()
}

// NumberIn returns the digits of a number of least to most digits at the end of a text, after which no other digits follow. A caller may
// say the number in parts, and correct it by saying all of it again: "two oh two five, no wait, two oh two five five" is "20255" if five
// digits are expected. If the text ends with no such number, NumberIn returns all digits of the text, like DigitsIn.
func NumberIn(language, text string, least, most int) string {
	all, _ := runs(language, text)
	number := ""
	for _, r := range slices.Backward(all) {
		if !r.counts() {
			continue
		}
		if number = r.digits() + number; len(number) >= least && len(number) <= most {
			return number
		}
	}
	return DigitsIn(language, text)
}

// run is a sequence of pieces without other words between them.
type run struct {
	pieces   []piece
	trailing bool // whether the run ends the text
}

// runs returns the runs of a text, and whether the text also contains other words.
func runs(language, text string) (all []run, rest bool) {
	n, tokens := numbersOf(language), words.Fold(text)
	var current []piece
	for len(tokens) > 0 {
		pieces, covered := n.at(language, tokens)
		tokens = tokens[covered:]
		if current = append(current, pieces...); pieces != nil {
			continue
		}
		rest = true
		if len(current) > 0 {
			all, current = append(all, run{pieces: current}), nil
		}
	}
	if len(current) > 0 {
		all = append(all, run{current, true})
	}
	return all, rest
}

// isFiller reports whether a word is a hesitation.
func isFiller(language, word string) bool { return overlap.Classify(language, word) == overlap.Filler }

// counts reports whether a run contains a word that is always a number.
func (r run) counts() bool {
	return slices.ContainsFunc(r.pieces, func(p piece) bool {
		return p.kind == literal || p.kind == number || p.kind == hundred || p.kind == thousand
	})
}

// digits returns the digits of a run.
func (r run) digits() string {
	var b strings.Builder
	times := 1
	for i := 0; i < len(r.pieces); {
		p := r.pieces[i]
		switch p.kind {
		case repeat:
			times = p.value
			i++
			continue
		case other, filler, and:
		case literal, number, weak, hundred, thousand:
			digits := p.digits
			if value, next := r.compound(i); next > i+1 || p.kind != literal {
				digits, i = strconv.Itoa(value), next-1
			}
			b.WriteString(strings.Repeat(digits, times))
			times = 1
		}
		i++
	}
	return b.String()
}

// kind returns the kind of a piece, or other after the last piece.
func (r run) kind(i int) kind {
	if i < len(r.pieces) {
		return r.pieces[i].kind
	}
	return other
}

// value returns the value of a piece, or -1 if it has none.
func (r run) value(i int) int {
	switch r.kind(i) {
	case number, weak, literal:
		return r.pieces[i].value
	default:
		return -1
	}
}

// compound reads the number that begins at a piece, such as "two thousand five hundred". It returns the value and the index after it.
func (r run) compound(i int) (value, next int) {
	value, next = 1, i
	if r.kind(i) != thousand {
		value, next = r.hundreds(i)
	}
	if r.kind(next) != thousand || value <= 0 || value >= 1000 {
		return value, next
	}
	value, next = 1000*value, next+1
	if begin, joined := r.rest(next); r.kind(begin) != literal {
		if more, end := r.hundreds(begin); end > begin && more > 0 && more < 1000 && (joined || r.belongs(more, end)) {
			return value + more, end
		}
	}
	return value, next
}

// hundreds reads a number below a thousand. It returns i as the index if there is none.
func (r run) hundreds(i int) (value, next int) {
	value, next = r.value(i), i
	switch {
	case r.kind(i) == hundred:
		value, next = 100, i+1
	case value < 0 && r.kind(i) != literal:
		return 0, i
	case value > 0 && value < 100 && r.kind(i+1) == hundred && (r.glued(i+1) || !r.glued(i+2)): // "venti centotre" is 20 and 103
		value, next = 100*value, i+2
	default:
		next++
	}
	if value < 100 || value%100 != 0 {
		return value, next
	}
	begin, joined := r.rest(next)
	if more := r.value(begin); more > 0 && more < 100 && r.kind(begin) != literal && (joined || r.belongs(more, begin+1)) {
		return value + more, begin + 1
	}
	return value, next
}

// rest returns the index at which the smaller part of a number may continue, and whether it is joined to the larger part by "and", or
// because both are one word.
func (r run) rest(i int) (begin int, joined bool) {
	if r.kind(i) == and {
		return i + 1, true
	}
	return i, r.glued(i)
}

// glued reports whether a piece continues the word of the piece before it.
func (r run) glued(i int) bool { return i < len(r.pieces) && r.pieces[i].glued }

// belongs reports whether a value that ends before an index belongs to the hundreds or thousands before it. It does not if it is the first
// of several single digits.
func (r run) belongs(value, end int) bool {
	next := r.value(end)
	return value >= 10 || next < 0 || next >= 10
}

// IsNumber reports whether a folded word can be the last word of a number: see words.Fold. It allocates no memory for usual words.
func IsNumber(language, word string) bool {
	n := numbersOf(language)
	return strings.ContainsAny(word, "0123456789") || n.phrases[word].kind != other || n.split(word) != nil
}
