package assert

import "regexp"

// These variables export the functions of traversal assertions to their test.
var (
	Collapse = collapse
	Compare  = compare
	Distance = distance
	Common   = common
)

// Fold returns the normalized form of a text, which comparisons use.
func Fold(text string, letterCase, blanks bool) string {
	return string(folding{letterCase, blanks}.fold(nil, text))
}

// Done returns the work that was counted so far.
func (w *Work) Done() int { return w.done }

// MayMatch reports whether the literals of an expression permit a match in a text.
func MayMatch(expression *regexp.Regexp, text string) bool {
	return analyze(expression).literals.mayMatch(text, nil)
}
