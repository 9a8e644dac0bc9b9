package call

import (
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/pathway"
)

// writable removes invalid UTF-8 and NUL characters, which databases cannot store. Texts of peers and models may contain them.
func writable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
}

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
