package request

import "github.com/callwright/callwright"

// These constants limit a Source.
const (
	maxPairs  = 32       // headers, query pairs or mappings
	maxName   = 256      // characters of a name
	maxPath   = 512      // characters of a path
	maxURL    = 8 << 10  // characters of a URL before its variables are filled in
	maxFilled = 24 << 10 // bytes of a URL with its variables, at up to 12 bytes per character
	maxText   = 64 << 10 // characters of a body before its variables are filled in
	maxHeader = 8 << 10  // bytes of a header's value
)

// beyond returns how many bytes variables may add to a text with the given limit: a few bytes more than the limit, so that a too long text
// is refused and not truncated.
func beyond(most int) int { return most + 8 }

// atMost returns CodeBadRequest if a list contains more than maxPairs items.
func atMost(field string, n int) error {
	if n > maxPairs {
		return callwright.Invalid(field, "must have at most %d items", maxPairs)
	}
	return nil
}
