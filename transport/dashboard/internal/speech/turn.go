package speech

import (
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// pageSize is the maximum number of samples or voices on a page.
const pageSize = 50

// turn is the position of a page in a list.
type turn struct {
	First, Last       int    // positions in the whole list, from 1
	Previous, Further string // addresses of the adjacent pages, or empty
	Cut               bool   // the list continues, but speech.MaxOffset ends the pages
}

// offsetOf parses the query parameter offset, which must be from 0 to speech.MaxOffset. The default is 0.
func offsetOf(r *page.Request) (int, error) {
	text := r.Query("offset")
	if text == "" {
		return 0, nil
	}
	offset, err := strconv.Atoi(text)
	if err != nil || offset < 0 || offset > speech.MaxOffset {
		return 0, callwright.Invalid("offset", "must be a whole number from 0 to %d", speech.MaxOffset)
	}
	return offset, nil
}

// turnOf returns the position of a page that shows the given number of members after offset, in a list of total members.
func turnOf(r *page.Request, offset, shown, total int) turn {
	t := turn{First: offset + 1, Last: offset + shown}
	if offset > 0 {
		t.Previous = r.With("offset", strconv.Itoa(max(0, offset-pageSize)))
	}
	if t.Last < total {
		if t.Cut = offset+pageSize > speech.MaxOffset; !t.Cut {
			t.Further = r.With("offset", strconv.Itoa(offset+pageSize))
		}
	}
	return t
}
