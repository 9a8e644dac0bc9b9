package agentstest

import (
	"strings"
	"unicode"
)

// words returns the words of a text in lower case, without punctuation.
func words(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '\'' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ")
}
