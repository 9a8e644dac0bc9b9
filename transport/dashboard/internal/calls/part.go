package calls

import (
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// part is a page of a list that is numbered within a call: of its transcript, or of its turns.
type part struct {
	Number, Pages               int // from 1
	First, Previous, Next, Last string
}

// partOf reads from a parameter of the address which page of a list is shown; without it, the first page of an ended call, and the
// last of a running one. count is the number of elements.
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
