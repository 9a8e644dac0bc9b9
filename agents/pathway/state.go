package pathway

import (
	"time"

	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/request"
)

// State is where a conversation is. It is plain data: a copy of it is another conversation, and it can be kept as JSON,
// whose form is this package's own. The zero State is a conversation that has not begun.
type State struct {
	Node      string         // id of the node that waits for the caller; empty before the start
	Return    string         // id of the node to go back to from a global one; empty: none
	Variables map[string]any // what was given and what was found out
	Talk      dialogue.Talk  // what was said
	Visited   []string       // ids of the nodes, in order
	Turn      int            // how many were taken
	Loops     int            // turns in a row that were ended by the limit of steps
	Over      bool           // ended or transferred
}

// Log is what happened in one turn, for people who want to know why.
type Log struct {
	Turn    int // 1, 2, ...
	Node    string
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
