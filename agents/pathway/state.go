package pathway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/request"
)

// State is where a conversation is. It is plain data: a copy of it is another conversation, and it can be kept as JSON,
// whose form is this package's own, and comes back the same. The zero State is a conversation that has not begun.
type State struct {
	Node      string         // id of the node that waits for the caller; before the start: of the one to begin at, empty for the graph's
	Return    string         // id of the node to go back to from a global one; empty: none
	Variables map[string]any // what was given and what was found out; whole numbers are int64, others float64
	Talk      dialogue.Talk  // what was said
	Visited   []string       // ids of the nodes, in order
	Turn      int            // how many were taken
	Loops     int            // turns in a row that were ended by the limit of steps
	Due       bool           // what the node does once its words are said is still to be done, as far as is known: see Step
	ReturnDue bool           // the same of the node to go back to
	Over      bool           // ended or transferred
}

// Begin is a conversation that has not begun. startNode is the id of the node to begin at; empty: the graph's start.
// variables may hold whatever JSON has a form for, and are copied.
func Begin(variables map[string]any, startNode string) State {
	s := State{Node: startNode}
	if len(variables) > 0 {
		s.Variables = make(map[string]any, len(variables))
		for name, v := range variables {
			s.Variables[strings.ToValidUTF8(name, "\uFFFD")] = plain(v)
		}
	}
	return s
}

// UnmarshalJSON reads what encoding/json has written of a State.
func (s *State) UnmarshalJSON(raw []byte) error {
	type plainState State // without this method
	var out plainState
	if err := decode(raw, &out); err != nil {
		return err
	}
	for name, v := range out.Variables {
		out.Variables[name] = plain(v)
	}
	*s = State(out)
	return nil
}

// decode reads JSON and keeps all digits of its numbers.
func decode(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}

// plain is a value in the form in which it comes back when a State is kept as JSON, so that it makes no difference
// whether it was: whole numbers are int64 where they fit, other numbers float64. It shares no memory with v.
func plain(v any) any {
	switch v := v.(type) {
	case nil, bool, int64:
		return v
	case int:
		return int64(v)
	case string:
		return strings.ToValidUTF8(v, "\uFFFD")
	case float64:
		return plainFloat(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil {
			return plainFloat(f)
		}
		return v.String()
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = plain(item)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, member := range v {
			object[strings.ToValidUTF8(name, "\uFFFD")] = plain(member)
		}
		return object
	}
	var out any
	raw, err := json.Marshal(v)
	if err == nil {
		err = decode(raw, &out)
	}
	if err != nil {
		return fmt.Sprint(v) // it has no form in JSON
	}
	return plain(out)
}

func plainFloat(v float64) any {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Sprint(v)
	case v == math.Trunc(v) && math.Abs(v) < 1<<63:
		return int64(v)
	default:
		return v
	}
}

// Log is what happened in one turn, for people who want to know why.
type Log struct {
	Turn    int    // 1, 2, ...
	Node    string // id of the node at which the turn ended
	Heard   string // what the caller said or pressed; empty for the start and for silence
	Said    string
	Entries []LogEntry
	Usage   llm.Usage
	Took    time.Duration
}

// LogEntry is one thing that happened in a turn.
type LogEntry struct {
	Kind      LogKind
	Node      string         // where it happened
	Name      string         // of that node
	Chosen    string         // of LogDecision: id of the node that the conversation went to
	Edge      string         // of LogDecision: id of the edge; empty for another way
	Tag       string         // of LogVisit
	Text      string         // for people
	Variables map[string]any // of LogVariables: those that changed
	Request   *request.Log   // of LogRequest
	At        time.Time
}

// LogKind says what happened.
type LogKind string

// The kinds of entries.
const (
	LogVisit     LogKind = "visit"     // the conversation came to a node
	LogDecision  LogKind = "decision"  // it was decided where to go, or to stay
	LogVariables LogKind = "variables" // variables got values
	LogRequest   LogKind = "tool_call" // another system was asked
	LogKnowledge LogKind = "knowledge" // passages were looked up
	LogLoop      LogKind = "loop"      // the limit of steps ended the turn
	LogError     LogKind = "error"     // something failed
)
