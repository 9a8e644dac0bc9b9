package expect

import "slices"

// WordsOf returns the words of a language that may be a value, folded and without blanks, in order.
func WordsOf(language string, value int) []string {
	var out []string
	for phrase, m := range numbersOf(language).phrases {
		if m == (meaning{number, value}) || m == (meaning{weak, value}) {
			out = append(out, phrase)
		}
	}
	slices.Sort(out)
	return out
}
