package request

import "github.com/callwright/callwright"

// The limits of a Source.
const (
	maxPairs  = 32       // headers, query pairs and mappings, each
	maxName   = 256      // characters of a name
	maxPath   = 512      // characters of a path
	maxURL    = 8 << 10  // characters of a URL before its variables are filled in
	maxFilled = 24 << 10 // bytes of a URL with its variables, at up to 12 bytes a character
	maxText   = 64 << 10 // characters of a body before its variables are filled in
	maxHeader = 8 << 10  // bytes of a header's value
)

// beyond returns the number of bytes that variables may add to a text with the limit most: a few more, so that a too long text is
// refused and not truncated.
func beyond(most int) int { return most + 8 }

// atMost refuses a list of more than maxPairs.
func atMost(field string, n int) error {
	if n > maxPairs {
		return callwright.Invalid(field, "must have at most %d items", maxPairs)
	}
	return nil
}
