package agentstest

import (
	"strings"
	"unicode"
)

// words returns the words of the given text in lower case, separated by spaces, without punctuation except apostrophes.
func words(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '\'' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ")
}
