package join

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
)

// maxError is the maximum length of an error text in the evidence, in bytes.
const maxError = 500

// turns adds the facts about each turn: the visited nodes, the variables that were set, the requests to other systems, and the failures.
func (f facts) turns(logs []pathway.Log) {
	for _, l := range logs {
		turn := facts{}
		for _, e := range l.Entries {
			turn.entry(e)
		}
		if len(turn) > 0 {
			f[fmt.Sprintf("turn %d", l.Turn)] = map[string]any(turn)
		}
	}
}

// entry adds the fact about one log entry of a turn. It omits the reason of a decision, because the reason may contain values of variables.
func (f facts) entry(e pathway.LogEntry) {
	switch e.Kind {
	case pathway.LogVisit:
		f.list("visited", cmp.Or(e.Name, e.Node))
	case pathway.LogDecision:
		f.list("chosen", e.Chosen)
	case pathway.LogVariables:
		for _, name := range slices.Sorted(maps.Keys(e.Variables)) {
			f.list("found_out", name)
		}
	case pathway.LogRequest:
		if e.Request != nil {
			f.list("asked", asked(*e.Request))
		}
	case pathway.LogLoop, pathway.LogError:
		f.list("failed", callwright.Clip(e.Text, maxError))
	case pathway.LogKnowledge: // omitted: the agent's answer contains the knowledge
	}
}

// list appends a value to the fact with this name, which is a list.
func (f facts) list(name string, value any) {
	known, _ := f[name].([]any)
	f[name] = append(known, value)
}

// asked returns the name, the duration, the status and the error of a request, without its parameters and the content of its response.
func asked(l request.Log) map[string]any {
	f := facts{"name": l.Name, "milliseconds": l.Duration.Milliseconds()}
	f.add("status", l.Status)
	f.add("error", callwright.Clip(l.Error, maxError))
	return f
}
