package pathway

import (
	"time"

	"github.com/callwright/callwright"
)

// The limits of a turn's log that is stored with its chat. A chat has at most MaxMessages such logs.
const (
	maxChatLog   = 32 << 10 // approximate bytes of a log's entries
	briefText    = 500      // characters per text of a shortened entry
	entrySize    = 128      // approximate bytes of an entry without texts
	valueSize    = 8        // approximate bytes of a value without texts
	moreThanFits = "the log of this turn has reached its limit of 32 KiB: the rest is left out"
)

// recorded returns the log of a turn in the form that is stored with its chat. In the first turn it adds the variables with which the chat
// began. If the entries exceed maxChatLog, it shortens each entry that needs more than half of the remaining room. It omits the first entry
// that still does not fit and all later ones, and adds an entry that says so.
func recorded(l Log, before State, at time.Time) Log {
	if before.Turn == 0 && len(before.Variables) > 0 {
		given := LogEntry{Kind: LogVariables, Node: before.Node, Text: "given at the start", Variables: before.Variables, At: at}
		l.Entries = append([]LogEntry{given}, l.Entries...)
	}
	sum := 0
	for _, e := range l.Entries {
		sum += sizeOf(e)
	}
	if sum <= maxChatLog {
		return l
	}
	all, room := l.Entries, maxChatLog
	l.Entries = make([]LogEntry, 0, len(all))
	for _, e := range all {
		if sizeOf(e) > room/2 { // leaves room for the next entries
			e = brief(e)
		}
		if room -= sizeOf(e); room < 0 {
			break
		}
		l.Entries = append(l.Entries, e)
	}
	last := all[len(all)-1]
	l.Entries = append(l.Entries, LogEntry{Kind: LogError, Node: last.Node, Name: last.Name, Text: moreThanFits, At: last.At})
	return l
}

// brief returns an entry without variables and bodies, and with clipped texts.
func brief(e LogEntry) LogEntry {
	e.Text, e.Tag, e.Variables = callwright.Clip(e.Text, briefText), callwright.Clip(e.Tag, briefText), nil
	if e.Request != nil {
		r := *e.Request
		r.Body, r.Variables = nil, nil
		r.URL, r.Error = callwright.Clip(r.URL, briefText), callwright.Clip(r.Error, briefText)
		e.Request = &r
	}
	return e
}

// sizeOf returns the approximate size of an entry in bytes.
func sizeOf(e LogEntry) int {
	n := entrySize + len(e.Node) + len(e.Name) + len(e.Chosen) + len(e.Edge) + len(e.Tag) + len(e.Text) + sizeOfValue(e.Variables)
	if r := e.Request; r != nil {
		n += entrySize + len(r.Name) + len(r.URL) + len(r.Body) + len(r.Error) + sizeOfValue(r.Variables)
	}
	return n
}

// sizeOfValue returns the approximate size of a variable's value in bytes.
func sizeOfValue(v any) int {
	n := valueSize
	switch v := v.(type) {
	case string:
		n += len(v)
	case []any:
		for _, item := range v {
			n += sizeOfValue(item)
		}
	case map[string]any:
		for name, member := range v {
			n += len(name) + sizeOfValue(member)
		}
	}
	return n
}
