package tool

import (
	"errors"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// mostSteps bounds a pattern of a schema, in steps of the program that it becomes.
const mostSteps = 4096

// expression compiles a pattern of a schema. One that becomes a program much larger than its own text is refused, such as
// a{1000}: a document of them would take gigabytes.
func expression(pattern string) (jsonschema.Regexp, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	const free, perByte = 64, 8
	if steps(parsed) > min(free+perByte*len(pattern), mostSteps) {
		return nil, errors.New("the pattern repeats too much")
	}
	return regexp.Compile(pattern)
}

// steps are about those of the program of an expression.
func steps(e *syntax.Regexp) int {
	const ranges = 16 // of a class of characters take as much as a step, or less
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
