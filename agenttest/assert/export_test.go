package assert

import "regexp"

// The parts of a traversal, for its test.
var (
	Collapse = collapse
	Compare  = compare
	Distance = distance
	Common   = common
)

// Fold returns a text as it is compared.
func Fold(text string, letterCase, blanks bool) string {
	return string(folding{letterCase, blanks}.fold(nil, text))
}

// Done returns the work that was counted.
func (w *Work) Done() int { return w.done }

// MayMatch reports whether a text may have a match of an expression.
func MayMatch(expression *regexp.Regexp, text string) bool {
	return analyze(expression).literals.mayMatch(text, nil)
}
