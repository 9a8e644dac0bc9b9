package agenttests

import (
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// part describes the part of a long list that a page shows, for the template "part".
type part struct {
	Name       string // name of the whole list
	From, To   int    // index of the first entry, and the index after the last entry
	First      int    // number that is shown for the entry at index 0
	Total      int
	Prev, Next string // paths of the neighboring parts; empty if there is none
}

// partOf returns the part of a list whose number, starting at 1, is the query parameter param. If the number exceeds the last part, for
// example because the list has become shorter, partOf returns the last part. An invalid number causes CodeBadRequest with param as the
// field. The links lead to the given element on the page with the path at, or on the current page if at is empty.
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

// FirstShown returns the number of the part's first entry, as shown on the page.
func (p part) FirstShown() int { return p.From + p.First }

// LastShown returns the number of the part's last entry, as shown on the page.
func (p part) LastShown() int { return p.To - 1 + p.First }
