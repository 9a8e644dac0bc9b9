package call

import (
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/pathway"
)

// writable returns a text that every database can store; texts of peers and models need not be.
func writable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
}

// writableLog returns a log with storable texts. Its variables already are.
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
