package calls

import (
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// part describes a page of a call's transcript or of its turns.
type part struct {
	Number, Pages               int // starting at 1
	First, Previous, Next, Last string
}

// partOf returns the page of a list that the query parameter with the given name selects. Without the parameter it returns the first page
// if the call has ended, and the last page otherwise. count is the number of elements in the list. A number that is not a page of the list
// causes CodeBadRequest.
func partOf(r *page.Request, name string, count, size int, ended bool) (part, error) {
	p := part{Number: 1, Pages: max(1, (count+size-1)/size)}
	if !ended {
		p.Number = p.Pages
	}
	if given := r.Query(name); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 1 || n > p.Pages {
			return p, callwright.Invalid(name, "must be the number of a page, from 1 to %d", p.Pages)
		}
		p.Number = n
	}
	at := func(n int) string { return r.With(name, strconv.Itoa(n)) }
	if p.Number > 1 {
		p.First, p.Previous = at(1), at(p.Number-1)
	}
	if p.Number < p.Pages {
		p.Next, p.Last = at(p.Number+1), at(p.Pages)
	}
	return p, nil
}
