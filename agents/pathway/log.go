package pathway

import (
	"time"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/request"
)

// Log records one turn, to explain its course.
type Log struct {
	Turn     int    // 1, 2, ...
	Node     string // id of the node at which the turn ended
	Heard    string // the caller's words or digits; empty at the start and for silence
	Said     string
	Entries  []LogEntry
	Usage    llm.Usage
	Duration time.Duration
}

// LogEntry is one event of a turn.
type LogEntry struct {
	Kind      LogKind
	Node      string         // id of the event's node
	Name      string         // the name of that node
	Chosen    string         // of LogDecision: id of the next node
	Edge      string         // of LogDecision: id of the edge; empty for another way
	Tag       string         // of LogVisit
	Text      string         // for people
	Variables map[string]any // of LogVariables: the variables that changed
	Request   *request.Log   // of LogRequest
	At        time.Time
}

// LogKind is the kind of an event.
type LogKind string

// The kinds of events.
const (
	LogVisit     LogKind = "visit"     // the conversation entered a node
	LogDecision  LogKind = "decision"  // the next node was chosen
	LogVariables LogKind = "variables" // variables were set
	LogRequest   LogKind = "tool_call" // a request was sent to another system
	LogKnowledge LogKind = "knowledge" // passages were looked up
	LogLoop      LogKind = "loop"      // MaxVisits ended the turn
	LogError     LogKind = "error"     // something failed
)

// RequestEntries returns the log entries of a request.
func RequestEntries(l request.Log, at time.Time) []LogEntry {
	entries := []LogEntry{{Kind: LogRequest, Name: l.Name, Request: &l, At: at}}
	if len(l.Variables) > 0 {
		entries = append(entries, LogEntry{
			Kind: LogVariables, Name: l.Name, Variables: l.Variables, At: at,
		})
	}
	return entries
}
