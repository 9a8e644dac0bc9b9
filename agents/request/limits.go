package request

import "github.com/callwright/callwright"

// The limits of a Source.
const (
	maxPairs  = 32  // headers, query pairs and mappings, each
	maxText   = 256 // bytes of a name or of a path
	maxURL    = 8 << 10
	maxHeader = 8 << 10 // bytes of a header's value
)

// atMost refuses a list of more than maxPairs.
func atMost(field string, n int) error {
	if n > maxPairs {
		return callwright.Invalid(field, "must have at most %d items", maxPairs)
	}
	return nil
}
