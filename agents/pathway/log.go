package pathway

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// note adds an entry about the node where the conversation is.
func (w *walk) note(e LogEntry) {
	e.Node, e.Name, e.At = w.at.ID, w.at.Name, w.runtime.now()
	w.log.Entries = append(w.log.Entries, e)
}

// chose notes a decision and what it rests on.
func (w *walk) chose(v way, reason string) {
	e := LogEntry{Kind: LogDecision, Chosen: v.to.ID, Text: reason}
	if v.edge != nil {
		e.Edge = v.edge.ID
	}
	w.note(e)
}

// set gives variables values, and notes those that change. The map that came with the State stays as it is.
func (w *walk) set(values map[string]any) {
	var changed map[string]any
	for name, v := range values {
		v = plain(v)
		if old, known := w.state.Variables[name]; known && reflect.DeepEqual(old, v) {
			continue
		}
		if changed == nil {
			changed = make(map[string]any, len(values))
		}
		changed[name] = v
	}
	if changed == nil {
		return
	}
	if !w.own {
		w.own = true
		w.state.Variables = maps.Clone(w.state.Variables)
	}
	if w.state.Variables == nil {
		w.state.Variables = make(map[string]any, len(changed))
	}
	maps.Copy(w.state.Variables, changed)
	w.note(LogEntry{Kind: LogVariables, Variables: changed})
}

// nameMissing notes the variables of the turn's templates that had no value.
func (w *walk) nameMissing() {
	if len(w.missing) > 0 {
		slices.Sort(w.missing)
		w.note(LogEntry{Kind: LogError, Text: "no value for " + strings.Join(w.missing, ", ")})
	}
}
