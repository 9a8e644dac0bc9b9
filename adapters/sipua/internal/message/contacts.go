package message

import (
	"slices"
	"strconv"

	"github.com/emiago/sipgo/sip"
)

// Contact is a place to which a response redirects a request.
type Contact struct {
	URI string
	Q   float64 // its preference, from 0 to 1 (RFC 3261, 20.10)
}

// maxContacts bounds the places of one response.
const maxContacts = 20

// ReadContacts returns the places of a response that redirects (RFC 3261, 8.1.3.4), the preferred ones first.
func ReadContacts(res *sip.Response) []Contact {
	var all []Contact
	for _, h := range res.GetHeaders("Contact") {
		c, ok := h.(*sip.ContactHeader)
		if !ok || c.Address.Wildcard || len(all) == maxContacts {
			continue
		}
		q, err := strconv.ParseFloat(c.Params.GetOr("q", "1"), 64)
		if err != nil || !(q >= 0 && q <= 1) {
			q = 0
		}
		all = append(all, Contact{URI: c.Address.String(), Q: q})
	}
	SortContacts(all, func(c Contact) float64 { return c.Q })
	return all
}

// SortContacts sorts places by their preference, the highest first.
func SortContacts[T any](all []T, q func(T) float64) {
	slices.SortStableFunc(all, func(a, b T) int {
		switch x, y := q(a), q(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		default:
			return 0
		}
	})
}
