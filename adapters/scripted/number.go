package scripted

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// digits matches a number in digits. It does not match the digits of a time, a date or a name.
var digits = regexp.MustCompile(`^[^\pL\pN\-+]*([-+]?\d{1,15}(?:\.\d{1,9})?)[^\pL\pN]*$`)

// The number words. The index in units is the number, and the index in tens is a tenth of it.
var (
	units = []string{
		"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
		"fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
	}
	tens = []string{"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
)

// pointers lists the words after which "one" is not a number.
var pointers = []string{
	"that", "this", "the", "which", "no", "any", "every", "each", "another", "other", "first", "second", "next", "last", "some",
}

// things lists the words before which "one" is not a number, because callers ask for one of them.
var things = []string{"moment", "second", "sec", "minute", "question", "thing", "more"}

// The words for yes, no and not. A yes does not count if the text also contains a word for not.
var (
	yesWords = []string{
		"yes", "yeah", "yep", "yup", "sure", "correct", "certainly", "absolutely", "exactly", "of course", "that is right", "thats right",
	}
	noWords  = []string{"no", "nope", "nah"}
	notWords = []string{"not", "dont", "isnt", "arent", "cant", "wont"}
)

// integers returns the whole numbers of a text, and omits fractions.
func integers(text string) []int64 {
	var out []int64
	for _, n := range numbers(text) {
		if whole := int64(n); float64(whole) == n {
			out = append(out, whole)
		}
	}
	return out
}

// numbers returns the numbers of a text, first those in digits, then those in words up to a hundred.
func numbers(text string) []float64 {
	var out []float64
	for token := range strings.FieldsSeq(strings.ToLower(text)) {
		if m := digits.FindStringSubmatch(token); m != nil {
			if n, err := strconv.ParseFloat(m[1], 64); err == nil {
				out = append(out, n)
			}
		}
	}
	spoken := words(text)
	for i := 0; i < len(spoken); i++ {
		n, taken := spokenNumber(spoken[i:])
		if n == 1 && (i > 0 && slices.Contains(pointers, spoken[i-1]) || i+1 < len(spoken) && slices.Contains(things, spoken[i+1])) {
			continue
		}
		if taken > 0 {
			out = append(out, float64(n))
			i += taken - 1
		}
	}
	return out
}

// spokenNumber returns the number at the start of spoken, and the number of words that express it: 1 or 2, or 0 if spoken does not begin
// with a number.
func spokenNumber(spoken []string) (n, taken int) {
	first := spoken[0]
	switch {
	case first == "hundred":
		return 100, 1
	case first == "one" && len(spoken) > 1 && spoken[1] == "hundred":
		return 100, 2
	}
	if i := slices.Index(units, first); i >= 0 {
		return i, 1
	}
	i := slices.Index(tens, first)
	if i < 0 {
		return 0, 0
	}
	if len(spoken) > 1 {
		if unit := slices.Index(units[:10], spoken[1]); unit > 0 {
			return 10*i + unit, 2
		}
	}
	return 10 * i, 1
}

// booleans returns a slice that contains true if a text says yes, and false if it says no. It may contain both or neither.
func booleans(text string) []bool {
	spoken := words(text)
	said := func(phrases []string) bool {
		return slices.ContainsFunc(phrases, func(p string) bool { return contains(spoken, words(p)) })
	}
	var out []bool
	if said(yesWords) && !said(notWords) {
		out = append(out, true)
	}
	if said(noWords) {
		out = append(out, false)
	}
	return out
}
