package tool

import (
	"errors"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxSteps is the maximum estimated number of steps of a pattern's compiled program.
const maxSteps = 4096

// expression compiles a pattern of a schema, and returns the estimated steps of its program. It refuses a pattern whose program exceeds
// maxSteps or is much larger than its text, such as a{1000}, because a document of such patterns would need gigabytes of memory.
func expression(pattern string) (jsonschema.Regexp, int, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, 0, err
	}
	const free, perByte = 64, 8
	size := steps(parsed)
	if size > min(free+perByte*len(pattern), maxSteps) {
		return nil, 0, errors.New("the pattern repeats too much")
	}
	e, err := regexp.Compile(pattern)
	return e, size, err
}

// steps estimates the number of steps of an expression's compiled program.
func steps(e *syntax.Regexp) int {
	const ranges = 16 // ranges of a character class that cost as much as one step
	n := 1 + len(e.Rune)/ranges
	if e.Op == syntax.OpLiteral {
		n = len(e.Rune)
	}
	for _, sub := range e.Sub {
		n += steps(sub)
	}
	if e.Op == syntax.OpRepeat {
		n *= max(e.Min, e.Max, 1)
	}
	return n
}
