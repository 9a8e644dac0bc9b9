package pathway

import (
	"encoding/json"
	"fmt"
	"strconv"
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
	Variables map[string]any // what was given and what was found out, as encoding/json decodes values
	Talk      dialogue.Talk  // what was said
	Visited   []string       // ids of the nodes, in order
	Turn      int            // how many were taken
	Loops     int            // turns in a row that were ended by the limit of steps
	Due       bool           // the node's words were broken into: what it does once they are said is still to be done
	Over      bool           // ended or transferred
}

// Begin is a conversation that has not begun. startNode is the id of the node to begin at; empty: the graph's start.
// Values become what encoding/json would
// decode them to.
func Begin(variables map[string]any, startNode string) State {
	s := State{Node: startNode}
	if len(variables) > 0 {
		s.Variables = make(map[string]any, len(variables))
		for name, v := range variables {
			s.Variables[name] = plain(v)
		}
	}
	return s
}

// exact is the largest whole number up to which JSON's numbers count exactly.
const exact = 1 << 53

// plain is a value as it comes back when a State is kept as JSON, so that it makes no difference whether it was. A whole
// number that is too large for that becomes its digits as text: an account's number must not change.
func plain(v any) any {
	switch v := v.(type) {
	case nil, bool:
		return v
	case string:
		return strings.ToValidUTF8(v, "\uFFFD")
	case int:
		return plain(int64(v))
	case int64:
		if v > exact || v < -exact {
			return strconv.FormatInt(v, 10)
		}
		return float64(v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v) // not a number, or without a form in JSON
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		return string(raw)
	}
	return out
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
