package agenttests

import (
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// part is the part of a long list that a page shows, for the template "part".
type part struct {
	Name       string // of the list
	From, To   int    // indexes; To is excluded
	First      int    // the number by which people know the entry at index 0
	Total      int
	Prev, Next string // addresses; empty: there is none
}

// partOf returns the part of a list whose number, from 1, is a parameter of the address. Pages of lists that have become shorter
// are their last ones. The links lead to an element of the page at an address; empty: the address of the request.
func partOf(r *page.Request, at, name, param, element string, total, size int) (part, error) {
	number, last := 1, max(1, (total+size-1)/size)
	if given := r.Query(param); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 1 {
			return part{}, callwright.Invalid(param, "must be the number of a page, from 1")
		}
		number = min(n, last)
	}
	p := part{Name: name, From: (number - 1) * size, To: min(total, number*size), First: 1, Total: total}
	to := func(number int) string { return at + r.With(param, strconv.Itoa(number)) + "#" + element }
	if number > 1 {
		p.Prev = to(number - 1)
	}
	if number < last {
		p.Next = to(number + 1)
	}
	return p, nil
}

// FirstShown returns the number of the first entry of the part.
func (p part) FirstShown() int { return p.From + p.First }

// LastShown returns the number of its last entry.
func (p part) LastShown() int { return p.To - 1 + p.First }
