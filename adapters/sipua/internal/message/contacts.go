package message

import (
	"slices"
	"strconv"

	"github.com/emiago/sipgo/sip"
)

// Contact is a target to which a response redirects a request.
type Contact struct {
	URI string
	Q   float64 // preference from 0 to 1 (RFC 3261, 20.10)
}

// maxContacts is the maximum number of contacts that ReadContacts returns.
const maxContacts = 20

// ReadContacts returns the contacts of a redirection (RFC 3261, 8.1.3.4), sorted by preference.
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

// SortContacts sorts values by their q value in descending order. It is stable.
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
