package call

import (
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/pathway"
)

// writable is a text as every database takes it: what peers and models say need not be.
func writable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
}

// writableLog is a log with such texts only. Its variables have none but such: who finds them out sees to that.
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
