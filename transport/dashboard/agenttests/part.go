package agenttests

import (
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/page"
)

// part is the part of a long list that a page shows, for the template "part".
type part struct {
	Name       string // of the list
	From, To   int    // indexes; To is excluded
	Total      int
	Prev, Next string // addresses; empty: there is none
}

// partOf returns the part of a list whose number, from 1, is a parameter of the address. Pages of lists that have become shorter are
// their last ones. The links lead to an element of the page.
func partOf(r *page.Request, name, param, element string, total, size int) (part, error) {
	number, last := 1, max(1, (total+size-1)/size)
	if given := r.Query(param); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 1 {
			return part{}, callwright.Invalid(param, "must be the number of a page, from 1")
		}
		number = min(n, last)
	}
	p := part{Name: name, From: (number - 1) * size, To: min(total, number*size), Total: total}
	to := func(number int) string { return r.With(param, strconv.Itoa(number)) + "#" + element }
	if number > 1 {
		p.Prev = to(number - 1)
	}
	if number < last {
		p.Next = to(number + 1)
	}
	return p, nil
}
