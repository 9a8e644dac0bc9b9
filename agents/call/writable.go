package call

import (
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
)

// writable returns the printable part of a text, for a call's record. Texts of peers and models may contain characters
// that databases cannot store, or that disguise text on a page.
func writable(text string) string { return callwright.Printable(text) }

// writableLog returns a copy of a log whose texts databases can store. Its variables contain only such texts already.
func writableLog(l pathway.Log) pathway.Log {
	l.Heard, l.Said = writable(l.Heard), writable(l.Said)
	l.Entries = slices.Clone(l.Entries)
	for i := range l.Entries {
		e := &l.Entries[i]
		e.Text = writable(e.Text)
		if e.Request != nil {
			r := *e.Request
			r.Name, r.URL, r.Error = writable(r.Name), writable(r.URL), writable(r.Error)
			e.Request = &r
		}
	}
	return l
}
