package redact

import (
	"regexp"
	"strings"
)

// spoken maps numerals to the number of digits that they represent.
var spoken = map[string]int{
	"zero": 1, "oh": 1, "o": 1, "one": 1, "two": 1, "three": 1, "four": 1, "five": 1, "six": 1, "seven": 1, "eight": 1, "nine": 1,
	"ten": 2, "eleven": 2, "twelve": 2, "thirteen": 2, "fourteen": 2, "fifteen": 2, "sixteen": 2, "seventeen": 2, "eighteen": 2,
	"nineteen": 2, "twenty": 1, "thirty": 1, "forty": 1, "fifty": 1, "sixty": 1, "seventy": 1, "eighty": 1, "ninety": 1, // "twenty one" counts 2 digits
	"hundred": 2, "thousand": 3, "double": 1, "triple": 2,
}

// piece matches a number in figures, a word, or the characters between them.
var piece = regexp.MustCompile(`\d+|[\p{L}']+|[^\d\p{L}']+`)

// between matches a separator within a number: at most one punctuation mark with blanks around it, or an opening parenthesis after blanks,
// full stops and hyphens. It does not match a line break.
var between = regexp.MustCompile(`^(?:[ \t\x{00a0}\x{2009}\x{202f}]*[-–()/,+.]?[ \t\x{00a0}\x{2009}\x{202f}]*|\) ?|[ .-]*\()$`)

// date matches a date in figures, which may include the hour of a time. Dates are not redacted.
var date = regexp.MustCompile(`^(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})(?:[ T]\d{1,2})?$`)

// numbers replaces each run of minDigits or more consecutive digits, in figures or in words, by Number, except dates.
func numbers(text string) string {
	var out strings.Builder
	begin, end, digits := -1, 0, 0 // of the number being read
	flush := func(upTo int) {
		if begin < 0 {
			return
		}
		if whole := text[begin:end]; digits >= minDigits && !date.MatchString(whole) {
			out.WriteString(Number)
		} else {
			out.WriteString(whole)
		}
		out.WriteString(text[end:upTo])
		begin, digits = -1, 0
	}
	for _, at := range piece.FindAllStringIndex(text, -1) {
		p := text[at[0]:at[1]]
		n := spoken[strings.ToLower(p)]
		if p[0] >= '0' && p[0] <= '9' {
			n = len(p)
		}
		switch {
		case n > 0 && begin < 0:
			begin, end, digits = at[0], at[1], n
		case n > 0:
			end, digits = at[1], digits+n
		case begin >= 0 && between.MatchString(p):
		default:
			flush(at[0])
			out.WriteString(p)
		}
	}
	flush(len(text))
	return out.String()
}
